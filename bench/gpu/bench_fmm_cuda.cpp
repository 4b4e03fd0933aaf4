// Fast multipole sums on a GPU, arrays in its memory: time from keys to results, of new points each time, and
// the error of the field and the potential against exact sums at all points (from 2 million points on at
// 20,000 of them). Charges of both signs, ε = 0.
//     bench_fmm_cuda [N [cube|plummer [order [leaf [mixed|double]]]]]      one case; none: the table, as JSON
#include "gpu_rows.h"

#include <farfield/device.h>
#include <farfield/sum.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace farfield;
using Json = nlohmann::ordered_json;

struct Case {
    int n;
    std::string kind;
    int order, leaf;
    std::string precision;
    int seeds = 5;
};

struct Points {
    std::vector<double> x, q;
};

Points points_of(const Case& of, unsigned seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::normal_distribution<double> normal;
    Points out;
    for (int i = 0; i < of.n; ++i) {
        double p[3] = {uniform(engine), uniform(engine), uniform(engine)};
        if (of.kind == "plummer") { // of scale 1, cut off at 20
            const double r = std::min(20.0, 1.0 / std::sqrt(std::pow(p[0], -2.0 / 3.0) - 1.0));
            for (auto& v : p) v = normal(engine);
            const double length = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
            for (auto& v : p) v *= r / length;
        }
        out.x.insert(out.x.end(), p, p + 3);
        out.q.push_back(2.0 * uniform(engine) - 1.0);
    }
    return out;
}

/// Relative L2 of rows that are `every` apart, and the median of the rows' own relative errors.
struct Error {
    double l2 = 0.0, median = 0.0, percentile99 = 0.0;
};

Error error_of(const std::vector<double>& got, const std::vector<double>& exact, std::size_t every,
               std::size_t width) {
    double difference = 0.0, norm = 0.0;
    std::vector<double> each;
    for (std::size_t row = 0; row < exact.size() / width; ++row) {
        double d2 = 0.0, n2 = 0.0;
        for (std::size_t k = 0; k < width; ++k) {
            const double e = exact[row * width + k];
            const double d = got[row * every * width + k] - e;
            d2 += d * d;
            n2 += e * e;
        }
        difference += d2;
        norm += n2;
        each.push_back(std::sqrt(d2 / n2));
    }
    std::sort(each.begin(), each.end());
    return {std::sqrt(difference / norm), each[each.size() / 2], each[each.size() * 99 / 100]};
}

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Exact sums at every so many targets.
struct Exact {
    std::size_t every = 1;
    std::vector<double> field, potential;
};

const Exact& exact_of(const Case& of, int seed, const Points& points) {
    static std::map<std::tuple<int, std::string, int>, Exact> kept;
    auto& out = kept[{of.n, of.kind, seed}];
    if (!out.field.empty()) return out;
    const std::size_t n = points.q.size();
    out.every = n < 2000000 ? 1 : n / 20000;
    const std::size_t count = n / out.every;
    std::vector<double> targets;
    for (std::size_t i = 0; i < count && count < n; ++i)
        for (std::size_t k = 0; k < 3; ++k) targets.push_back(points.x[3 * i * out.every + k]);
    bench::GpuRows x(points.x, 3), q(points.q, 1), to(targets, 3);
    bench::GpuRows phi(count, 1), e(count, 3);
    SumOptions direct;
    direct.kernel = Kernel::coulomb;
    direct.method = Method::direct;
    direct.coincident = Coincident::skip; // each target is a source, too
    auto all = count == n ? SumPlan(x.view(), direct) : SumPlan(x.view(), to.view(), direct);
    SumOutputs outputs;
    outputs.potential = phi.view();
    outputs.field = e.view();
    all.execute(q.view(), outputs);
    out.field = e.values();
    out.potential = phi.values();
    return out;
}

Json measure(const Case& of) {
    SumOptions options;
    options.kernel = Kernel::coulomb;
    options.method = Method::fmm;
    options.order = of.order;
    options.leaf = of.leaf;
    options.precision = of.precision == "double" ? Precision::float64 : Precision::mixed;
    std::vector<double> milliseconds, tree, sums, field, field_median, field_99, potential;
    Json passes;
    for (int seed = 1; seed <= of.seeds; ++seed) {
        const auto points = points_of(of, static_cast<unsigned>(seed));
        bench::GpuRows x(points.x, 3), q(points.q, 1), phi(points.q.size(), 1), e(points.q.size(), 3);
        SumPlan plan(x.view(), options);
        SumOutputs outputs;
        outputs.potential = phi.view();
        outputs.field = e.view();
        double least = HUGE_VAL;
        SumReport best;
        for (int repeat = 0; repeat < 12; ++repeat) { // the first ones warm up
            bench::GpuRows::wait();
            const auto begin = std::chrono::steady_clock::now();
            plan.update(x.view());
            plan.execute(q.view(), outputs);
            bench::GpuRows::wait();
            const double taken =
                1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            if (taken >= least) continue;
            least = taken;
            best = plan.report();
        }
        milliseconds.push_back(least);
        tree.push_back(1e3 * best.fmm.tree_seconds);
        sums.push_back(1e3 * best.compute_seconds);
        passes = Json::object();
        for (const auto& pass : best.passes) passes[pass.name] = 1e3 * pass.seconds;
        const auto& exact = exact_of(of, seed, points);
        const auto of_field = error_of(e.values(), exact.field, exact.every, 3);
        field.push_back(of_field.l2);
        field_median.push_back(of_field.median);
        field_99.push_back(of_field.percentile99);
        potential.push_back(error_of(phi.values(), exact.potential, exact.every, 1).l2);
    }
    return {{"points", of.n},
            {"distribution", of.kind},
            {"order", of.order},
            {"leaf", of.leaf},
            {"precision", of.precision},
            {"seeds", of.seeds},
            {"milliseconds", median_of(milliseconds)},
            {"tree_milliseconds", median_of(tree)},
            {"passes_milliseconds", median_of(sums)},
            {"field_l2", median_of(field)},
            {"field_median", median_of(field_median)},
            {"field_99", median_of(field_99)},
            {"potential_l2", median_of(potential)},
            {"passes_of_last_seed", passes}};
}

} // namespace

int main(int argc, char** argv) {
    std::vector<Case> cases;
    if (argc > 1) {
        const auto word = [&](int k, const char* usual) { return std::string(argc > k ? argv[k] : usual); };
        cases.push_back({std::stoi(word(1, "")), word(2, "cube"), std::stoi(word(3, "10")),
                         std::stoi(word(4, "0")), word(5, "mixed"), 1});
    } else {
        const int million = 1000000;
        for (const int order : {3, 4}) cases.push_back({million, "cube", order, 31, "mixed"});
        for (const int order : {11, 12}) cases.push_back({million, "cube", order, 72, "mixed"});
        cases.push_back({million, "cube", 12, 72, "double"});
        for (const int order : {20, 23, 24}) cases.push_back({million, "cube", order, 125, "double"});
        for (const int order : {3, 4}) cases.push_back({million, "plummer", order, 31, "mixed"});
        for (const int order : {12, 13}) cases.push_back({million, "plummer", order, 72, "mixed"});
        for (const int order : {12, 13}) cases.push_back({10 * million, "cube", order, 91, "mixed", 1});
    }
    Json out = {{"name", "fast multipole sums on a GPU"},
                {"gpu", gpus().empty() ? std::string("none") : gpus().front().name},
                {"rows", Json::array()}};
    for (const auto& of : cases) out["rows"].push_back(measure(of));
    std::printf("%s\n", out.dump(2).c_str());
    return 0;
}
