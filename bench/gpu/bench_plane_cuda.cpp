// Fast multipole sums in the plane on a GPU, arrays in its memory: time from keys to results, of new points
// each time, potential and field, and the errors of both against direct sums at 2,000 of the targets. Points
// in the unit square, strengths of both signs.
//     bench_plane_cuda [N real|complex order leaf mixed|double [square|clustered]]      one case; none: the
//     table, as JSON
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
    int n;
    std::string strengths;
    int order, leaf;
    std::string precision;
    std::string points = "square";
};

struct Points {
    std::vector<double> xy, q;
};

Points points_of(const Case& of) {
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::normal_distribution<double> normal;
    Points out;
    for (int i = 0; i < of.n; ++i) {
        double x = uniform(engine), y = uniform(engine);
        if (of.points == "clustered") {
            const double scale = std::pow(10.0, -3.0 * x);
            x = scale * normal(engine);
            y = scale * normal(engine);
        }
        out.xy.insert(out.xy.end(), {x, y});
        const double re = 2.0 * uniform(engine) - 1.0, im = 2.0 * uniform(engine) - 1.0;
        out.q.insert(out.q.end(), {re, of.strengths == "complex" ? im : 0.0});
    }
    return out;
}

double error_of(const std::vector<double>& got, const std::vector<double>& exact, std::size_t every) {
    double difference = 0.0, norm = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const double d = got[i / 2 * every * 2 + i % 2] - exact[i];
        difference += d * d;
        norm += exact[i] * exact[i];
    }
    return std::sqrt(difference / norm);
}

Json measure(const Case& of) {
    const auto points = points_of(of);
    SumOptions options{.kernel = Kernel::laplace2d, .method = Method::fmm};
    options.order = of.order;
    options.leaf = of.leaf;
    options.precision = of.precision == "double" ? Precision::float64 : Precision::mixed;
    bench::GpuRows x(points.xy, 2), q(points.q, 2), phi(points.xy.size() / 2, 2), e(points.xy.size() / 2, 2);
    SumPlan plan(x.view(), options);
    SumOutputs outputs;
    outputs.potential = phi.view();
    outputs.field = e.view();
    double least = HUGE_VAL;
    std::vector<double> on_gpu;
    SumReport best;
    for (int repeat = 0; repeat < 15; ++repeat) { // the first ones warm up
        bench::GpuRows::wait();
        const auto begin = std::chrono::steady_clock::now();
        plan.update(x.view());
        plan.execute(q.view(), outputs);
        bench::GpuRows::wait();
        const double taken =
            1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const auto report = plan.report();
        on_gpu.push_back(1e3 * (report.fmm.tree_seconds + report.compute_seconds));
        if (taken >= least) continue;
        least = taken;
        best = report;
    }
    std::sort(on_gpu.begin(), on_gpu.end());

    // each target is a source, too: its row is computed in long double
    const auto n = points.q.size() / 2;
    const std::size_t every = n / std::clamp<std::size_t>(400000000 / n, 50, 400);
    std::vector<double> targets;
    for (std::size_t i = 0; i < points.xy.size() / 2; i += every)
        targets.insert(targets.end(), {points.xy[2 * i], points.xy[2 * i + 1]});
    std::vector<double> exact_phi(targets.size()), exact_e(targets.size());
    SumOptions direct{.kernel = Kernel::laplace2d, .method = Method::direct};
    direct.precision = Precision::float64;
    direct.coincident = Coincident::skip;
    direct.device.kind = DeviceKind::cpu;
    const auto of_host = [](const std::vector<double>& values) {
        return matrix_view(std::span<const double>(values), 2);
    };
    SumOutputs exact;
    exact.potential = matrix_view(std::span<double>(exact_phi), 2);
    exact.field = matrix_view(std::span<double>(exact_e), 2);
    SumPlan(of_host(points.xy), of_host(targets), direct).execute(of_host(points.q), exact);

    Json passes = Json::object();
    for (const auto& pass : best.passes) passes[pass.name] = 1e3 * pass.seconds;
    return {{"points", of.n},
            {"distribution", of.points},
            {"strengths", of.strengths},
            {"order", of.order},
            {"leaf", of.leaf},
            {"precision", of.precision},
            {"milliseconds", least},
            {"gpu_milliseconds_median", on_gpu[on_gpu.size() / 2]},
            {"gpu_milliseconds_least", on_gpu.front()},
            {"tree_milliseconds", 1e3 * best.fmm.tree_seconds},
            {"passes_milliseconds", 1e3 * best.compute_seconds},
            {"targets_compared", targets.size() / 2},
            {"cells", best.fmm.cells},
            {"near_pairs", best.fmm.near_pairs},
            {"field_l2", error_of(e.values(), exact_e, every)},
            {"potential_l2", error_of(phi.values(), exact_phi, every)},
            {"passes", passes}};
}

} // namespace

int main(int argc, char** argv) {
    std::vector<Case> cases;
    if (argc > 1) {
        const auto word = [&](int k, const char* usual) { return std::string(argc > k ? argv[k] : usual); };
        cases.push_back({std::stoi(word(1, "")), word(2, "real"), std::stoi(word(3, "10")),
                         std::stoi(word(4, "0")), word(5, "mixed"), word(6, "square")});
    } else {
        const int million = 1000000;
        for (const std::string strengths : {"real", "complex"}) {
            for (const int order : {9, 10}) cases.push_back({million, strengths, order, 0, "mixed"});
            for (const int order : {28, 30}) cases.push_back({million, strengths, order, 0, "double"});
        }
        cases.push_back({million, "real", 10, 0, "mixed", "clustered"});
        cases.push_back({million, "real", 28, 0, "double", "clustered"});
        for (const int n : {million / 10, 4 * million, 10 * million}) {
            cases.push_back({n, "real", 10, 0, "mixed"});
            cases.push_back({n, "real", 28, 0, "double"});
        }
    }
    Json out = {{"name", "fast multipole sums in the plane on a GPU"},
                {"gpu", gpus().empty() ? std::string("none") : gpus().front().name},
                {"rows", Json::array()}};
    for (const auto& of : cases) out["rows"].push_back(measure(of));
    std::printf("%s\n", out.dump(2).c_str());
    return 0;
}
