// Fast Gauss transforms on a GPU, arrays in its memory: time from keys to results, of new points each time,
// the times of sorting and of passes, and the largest error over the largest value, against exact sums at
// some of the targets. Sources and targets are different points of the unit box, strengths positive or of
// both signs.
//     bench_gauss_cuda [N d sigma tolerance fgt|direct [uniform|clustered [positive|signed
//     [potential|both]]]] one case; none: the table, as JSON
//     bench_gauss_cuda crossover     the number of points from which fgt ends before direct
#include "gpu_rows.h"

#include <farfield/device.h>
#include <farfield/sum.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using Json = nlohmann::ordered_json;

struct Case {
    int n, dimension;
    double sigma, tolerance;
    std::string method = "fgt", points = "uniform", strengths = "positive", outputs = "potential";
};

std::vector<double> points_of(const Case& of, unsigned seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::normal_distribution<double> normal;
    std::vector<double> out;
    for (int i = 0; i < of.n; ++i) {
        const double scale = 0.3 * std::pow(10.0, -2.0 * uniform(engine));
        for (int k = 0; k < of.dimension; ++k)
            out.push_back(of.points == "clustered" ? 0.5 + scale * normal(engine) : uniform(engine));
    }
    return out;
}

std::vector<double> strengths_of(const Case& of) {
    std::mt19937_64 engine(3);
    std::uniform_real_distribution<double> uniform(of.strengths == "signed" ? -1.0 : 0.0, 1.0);
    std::vector<double> out;
    for (int i = 0; i < of.n; ++i) out.push_back(uniform(engine));
    return out;
}

SumOptions options_of(const Case& of) {
    SumOptions options{.kernel = Kernel::gauss,
                       .method = of.method == "direct" ? Method::direct : Method::fgt};
    options.sigma = of.sigma;
    options.tolerance = of.tolerance;
    options.device.kind = DeviceKind::cuda;
    if (of.outputs == "potential") options.outputs = Output::potential;
    return options;
}

/// Largest difference over the largest value, of every `every`-th target.
double error_of(const std::vector<double>& got, const std::vector<double>& exact, std::size_t every,
                std::size_t width) {
    double largest = 0.0, worst = 0.0;
    for (std::size_t row = 0; row < got.size() / width; ++row) {
        double square = 0.0;
        for (std::size_t k = 0; k < width; ++k) square += got[row * width + k] * got[row * width + k];
        largest = std::max(largest, square);
    }
    for (std::size_t row = 0; row < exact.size() / width; ++row) {
        double square = 0.0;
        for (std::size_t k = 0; k < width; ++k)
            square += std::pow(got[row * every * width + k] - exact[row * width + k], 2);
        worst = std::max(worst, square);
    }
    return std::sqrt(worst / largest);
}

struct Errors {
    std::size_t targets;
    double potential, gradient;
};

Errors errors_of(const Case& of, const std::vector<double>& x, const std::vector<double>& y,
                 const std::vector<double>& q, const std::vector<double>& potential,
                 const std::vector<double>& gradient) {
    const auto d = static_cast<std::size_t>(of.dimension);
    const auto m = y.size() / d;
    const std::size_t every = std::max<std::size_t>(1, m / 500);
    std::vector<double> targets;
    for (std::size_t i = 0; i < m; i += every)
        targets.insert(targets.end(), y.begin() + static_cast<std::ptrdiff_t>(d * i),
                       y.begin() + static_cast<std::ptrdiff_t>(d * (i + 1)));
    auto direct = options_of(of);
    direct.method = Method::direct;
    direct.tolerance = 0.0;
    direct.precision = Precision::float64;
    direct.device.kind = DeviceKind::cpu;
    direct.outputs = {};
    std::vector<double> phi(targets.size() / d), g(targets.size());
    SumOutputs exact;
    exact.potential = ArrayView(std::span<double>(phi));
    exact.gradient = matrix_view(std::span<double>(g), of.dimension);
    const auto rows = [&](const std::vector<double>& values) {
        return matrix_view(std::span<const double>(values), of.dimension);
    };
    SumPlan(rows(x), rows(targets), direct).execute(ConstArrayView(std::span<const double>(q)), exact);
    return {phi.size(), error_of(potential, phi, every, 1),
            gradient.empty() ? 0.0 : error_of(gradient, g, every, d)};
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

Json measure(const Case& of) {
    const auto x = points_of(of, 1), y = points_of(of, 2), q = strengths_of(of);
    bench::GpuRows sources(x, of.dimension), targets(y, of.dimension), strengths(q, 1);
    bench::GpuRows potential(q.size(), 1), gradient(of.outputs == "both" ? q.size() : 0, of.dimension);
    SumPlan plan(sources.view(), targets.view(), options_of(of));
    SumOutputs outputs;
    outputs.potential = potential.view();
    if (of.outputs == "both") outputs.gradient = gradient.view();
    plan.execute(strengths.view(), outputs); // is compared, and computed again where it was not accurate
    const auto compared = plan.report().errors;
    std::vector<double> wall, again, sort, order, passes;
    SumReport last;
    for (int repeat = 0; repeat < 15; ++repeat) {
        const auto since = [](auto begin) {
            bench::GpuRows::wait();
            return 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
        bench::GpuRows::wait();
        const auto begin = std::chrono::steady_clock::now();
        plan.update(sources.view(), targets.view());
        const auto middle = std::chrono::steady_clock::now();
        plan.execute(strengths.view(), outputs);
        again.push_back(since(middle));
        wall.push_back(since(begin));
        last = plan.report();
        sort.push_back(1e3 * last.fgt.sort_seconds);
        order.push_back(1e3 * last.fgt.order_seconds);
        passes.push_back(1e3 * last.compute_seconds);
    }
    const auto errors = errors_of(of, x, y, q, potential.values(),
                                  of.outputs == "both" ? gradient.values() : std::vector<double>());
    Json each = Json::object();
    for (const auto& pass : last.passes) each[pass.name] = 1e3 * pass.seconds;
    return {{"points", of.n},
            {"dimension", of.dimension},
            {"sigma", of.sigma},
            {"tolerance", of.tolerance},
            {"method", of.method},
            {"distribution", of.points},
            {"strengths", of.strengths},
            {"outputs", of.outputs},
            {"way", of.method == "direct" ? "direct"
                    : last.fgt.width > 0  ? "grid"
                                          : "pairs"},
            {"precision", std::string(name_of(last.precision))},
            {"width", last.fgt.width},
            {"grid_numbers", last.fgt.grid_numbers},
            {"cutoff", last.fgt.cutoff},
            {"near_pairs", last.fgt.near_pairs},
            {"milliseconds", median(wall)},
            {"milliseconds_same_points", median(again)},
            {"sort_milliseconds", median(sort)},
            {"order_milliseconds", median(order)},
            {"passes_milliseconds", median(passes)},
            {"passes_least_milliseconds", *std::min_element(passes.begin(), passes.end())},
            {"passes", each},
            {"targets_compared", errors.targets},
            {"potential_error", errors.potential},
            {"gradient_error", errors.gradient},
            {"verified_error", compared.empty() ? 0.0 : compared.front().relative}};
}

std::vector<Case> table() {
    std::vector<Case> out;
    constexpr int million = 1000000;
    for (const int d : {3, 2})
        for (const double sigma : {0.01, 0.05, 0.2})
            for (const double tolerance : {1e-3, 1e-6, 1e-9}) out.push_back({million, d, sigma, tolerance});
    for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
        out.push_back({million, 1, 0.05, tolerance});
        out.push_back({million, 3, 0.05, tolerance, "fgt", "clustered"});
        out.push_back({million, 3, 0.05, tolerance, "fgt", "uniform", "signed"});
        out.push_back({million, 3, 0.05, tolerance, "fgt", "uniform", "positive", "both"});
        out.push_back({million, 3, 0.001, tolerance});
        out.push_back({10 * million, 3, 0.05, tolerance});
    }
    return out;
}

/// Both methods for more and more points, sources and as many targets, until fgt ends first.
Json crossover(int dimension, double tolerance) {
    Json out = {
        {"dimension", dimension}, {"sigma", 0.05}, {"tolerance", tolerance}, {"sizes", Json::array()}};
    double before = 0.0; // log of the ratio of times
    for (int n = 1024; n <= 1 << 18; n *= 2) {
        const auto direct = measure({n, dimension, 0.05, tolerance, "direct"});
        const auto fgt = measure({n, dimension, 0.05, tolerance, "fgt"});
        const double of_direct = direct["milliseconds"], of_fgt = fgt["milliseconds"];
        out["sizes"].push_back({{"points", n},
                                {"direct_milliseconds", of_direct},
                                {"fgt_milliseconds", of_fgt},
                                {"way", fgt["way"]},
                                {"direct_error", direct["potential_error"]},
                                {"fgt_error", fgt["potential_error"]}});
        const double now = std::log(of_direct / of_fgt);
        if (now >= 0.0) {
            // between the last two numbers, on a straight line of logarithms; the least one is not known
            // better
            out["crossover_points"] = n == 1024 ? n : std::round(n * std::exp2(-now / (now - before)));
            break;
        }
        before = now;
    }
    return out;
}

Json crossovers() {
    auto rows = Json::array();
    for (const int dimension : {1, 2, 3})
        for (const double tolerance : {1e-3, 1e-6, 1e-9}) rows.push_back(crossover(dimension, tolerance));
    return rows;
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string(argv[1]) == "crossover") {
        const Json out = {
            {"name", "sums of Gaussians on a GPU: fgt against direct, from new points to results"},
            {"gpu", gpus().empty() ? std::string("none") : gpus().front().name},
            {"rows", crossovers()}};
        std::printf("%s\n", out.dump(2).c_str());
        return 0;
    }
    auto cases = table();
    if (argc > 1) {
        const auto word = [&](int k, const char* usual) { return std::string(argc > k ? argv[k] : usual); };
        cases = {{std::stoi(word(1, "")), std::stoi(word(2, "3")), std::stod(word(3, "0.05")),
                  std::stod(word(4, "1e-6")), word(5, "fgt"), word(6, "uniform"), word(7, "positive"),
                  word(8, "potential")}};
    }
    Json out = {{"name", "fast Gauss transforms on a GPU"},
                {"gpu", gpus().empty() ? std::string("none") : gpus().front().name},
                {"rows", Json::array()}};
    for (const auto& of : cases) {
        try {
            out["rows"].push_back(measure(of));
        } catch (const std::exception& error) {
            out["rows"].push_back({{"dimension", of.dimension},
                                   {"sigma", of.sigma},
                                   {"tolerance", of.tolerance},
                                   {"error", error.what()}});
        }
    }
    std::printf("%s\n", out.dump(2).c_str());
    return 0;
}
