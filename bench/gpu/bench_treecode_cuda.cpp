// Sums by a tree code on a GPU, arrays in its memory: time from keys to results, of new points each time, and
// the error of the field against exact sums at all points. Equal masses, ε = 0.
//     bench_treecode_cuda [N [cube|plummer [order [θ [leaf [float|mixed|double [tolerance]]]]]]]
//                                                                one case; none: the table, as JSON
#include "clouds.h"

#include <farfield/device.h>
#include <farfield/sum.h>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using namespace farfield::bench;
using Json = nlohmann::ordered_json;

struct Case {
    Cloud cloud;
    int order = 1;
    double theta = 0.8; ///< 0: by the tolerance
    int leaf = 0;
    std::string precision = "float";
    double tolerance = 0.0;
    int seeds = 5;
};

Json measure(const Case& of) {
    SumOptions options;
    options.kernel = Kernel::gravity;
    options.method = Method::treecode;
    options.order = of.order;
    options.theta = of.theta;
    options.leaf = of.leaf;
    options.tolerance = of.tolerance;
    options.outputs = Output::field;
    options.precision = of.precision == "double"  ? Precision::float64
                        : of.precision == "float" ? Precision::float32
                                                  : Precision::mixed;
    std::vector<double> milliseconds, tree, sums, l2, median, percentile99;
    Json passes;
    SumReport last;
    for (int seed = 1; seed <= of.seeds; ++seed) {
        const auto points = points_of(of.cloud, static_cast<unsigned>(seed));
        GpuRows x(points.x, 3), q(points.q, 1), e(points.q.size(), 3);
        SumPlan plan(x.view(), options);
        SumOutputs outputs;
        outputs.field = e.view();
        const auto best = least_of(plan, x, q, outputs, 12);
        last = best.report;
        milliseconds.push_back(best.milliseconds);
        tree.push_back(1e3 * last.treecode.tree_seconds);
        sums.push_back(1e3 * last.compute_seconds);
        passes = Json::object();
        for (const auto& pass : last.passes) passes[pass.name] = 1e3 * pass.seconds;
        auto exact = exact_of(of.cloud, seed, points).field;
        for (auto& value : exact) value = -value; // masses attract
        const auto error = error_of(e.values(), exact, exact_of(of.cloud, seed, points).every, 3);
        l2.push_back(error.l2);
        median.push_back(error.median);
        percentile99.push_back(error.percentile99);
    }
    const auto& shape = last.treecode;
    return {{"points", of.cloud.n},
            {"distribution", of.cloud.kind},
            {"order", shape.order},
            {"theta", shape.theta},
            {"accuracy", shape.accuracy},
            {"leaf", of.leaf},
            {"precision", of.precision},
            {"tolerance", of.tolerance},
            {"seeds", of.seeds},
            {"milliseconds", median_of(milliseconds)},
            {"tree_milliseconds", median_of(tree)},
            {"passes_milliseconds", median_of(sums)},
            {"field_l2", median_of(l2)},
            {"field_median", median_of(median)},
            {"field_99", median_of(percentile99)},
            {"cells", shape.cells},
            {"levels", shape.levels},
            {"groups", shape.groups},
            {"near_pairs", shape.near_pairs},
            {"far_pairs", shape.far_pairs},
            {"passes_of_last_seed", passes}};
}

} // namespace

int main(int argc, char** argv) {
    std::vector<Case> cases;
    if (argc > 1) {
        const auto word = [&](int k, const char* usual) { return std::string(argc > k ? argv[k] : usual); };
        cases.push_back({.cloud = {std::stoi(word(1, "")), word(2, "plummer"), true},
                         .order = std::stoi(word(3, "1")),
                         .theta = std::stod(word(4, "0.8")),
                         .leaf = std::stoi(word(5, "0")),
                         .precision = word(6, "float"),
                         .tolerance = std::stod(word(7, "0")),
                         .seeds = 1});
    } else {
        const int million = 1 << 20;
        for (const char* kind : {"plummer", "cube"}) {
            const Cloud cloud{million, kind, true};
            for (const char* precision : {"float", "mixed"})
                cases.push_back({.cloud = cloud, .theta = 0.8, .precision = precision});
            for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-5})
                cases.push_back({.cloud = cloud,
                                 .order = 0,
                                 .theta = 0.0,
                                 .precision = "mixed",
                                 .tolerance = tolerance,
                                 .seeds = 3});
        }
    }
    Json out = {{"name", "sums by a tree code on a GPU"},
                {"gpu", gpus().empty() ? std::string("none") : gpus().front().name},
                {"rows", Json::array()}};
    for (const auto& of : cases) out["rows"].push_back(measure(of));
    std::printf("%s\n", out.dump(2).c_str());
    return 0;
}
