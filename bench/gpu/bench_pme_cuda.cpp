// Sums over a periodic cube by particle-mesh Ewald on a GPU, arrays in its memory: time from keys to results,
// of new points each time, potentials and fields of charges in [−1, 1] that sum to 0. Errors are those that
// the plan itself finds against exact sums at sampled targets.
//     bench_pme_cuda [N [tolerance [order]]]      one case; none: the table, as JSON
#include "clouds.h"

#include <farfield/device.h>
#include <farfield/sum.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using namespace farfield::bench;
using Json = nlohmann::ordered_json;

struct Case {
    int n;
    double tolerance;
    int order = 0;
};

Json measure(const Case& of) {
    SumOptions options;
    options.kernel = Kernel::coulomb;
    options.method = Method::pme;
    options.period = {1.0, 1.0, 1.0};
    options.order = of.order;
    options.tolerance = of.tolerance;
    auto points = points_of({of.n, "cube"}, 1);
    const double mean = std::accumulate(points.q.begin(), points.q.end(), 0.0) / of.n;
    for (auto& q : points.q) q -= mean;
    GpuRows x(points.x, 3), q(points.q, 1), phi(points.q.size(), 1), e(points.q.size(), 3);
    SumPlan plan(x.view(), options);
    SumOutputs outputs;
    outputs.potential = phi.view();
    outputs.field = e.view();
    plan.execute(q.view(), outputs); // compares
    const auto errors = plan.report().errors;
    const auto best = least_of(plan, x, q, outputs, 20);
    const auto& shape = best.report.lattice;
    auto passes = Json::object();
    for (const auto& pass : best.report.passes) {
        auto name = pass.name;
        std::replace(name.begin(), name.end(), ' ', '_');
        passes[name] = 1e3 * pass.seconds;
    }
    return {{"points", of.n},
            {"tolerance", of.tolerance},
            {"potential_error", errors.at(0).relative},
            {"field_error", errors.at(1).relative},
            {"order", shape.order},
            {"mesh", shape.mesh},
            {"splitting", shape.splitting},
            {"cutoff", shape.cutoff},
            {"near_pairs", shape.near_pairs},
            {"milliseconds", best.milliseconds},
            {"prepare_milliseconds", 1e3 * best.report.prepare_seconds},
            {"passes_milliseconds", 1e3 * best.report.compute_seconds},
            {"passes", passes}};
}

} // namespace

int main(int argc, char** argv) {
    std::vector<Case> cases;
    if (argc > 1) {
        cases.push_back(
            {std::stoi(argv[1]), argc > 2 ? std::stod(argv[2]) : 1e-4, argc > 3 ? std::stoi(argv[3]) : 0});
    } else {
        for (const int n : {100000, 1000000})
            for (const double tolerance : {1e-4, 1e-6}) cases.push_back({n, tolerance});
    }
    Json out = {{"name", "sums over a periodic cube by particle-mesh Ewald on a GPU"},
                {"gpu", gpus().empty() ? std::string("none") : gpus().front().name},
                {"rows", Json::array()}};
    for (const auto& of : cases) out["rows"].push_back(measure(of));
    std::printf("%s\n", out.dump(2).c_str());
    return 0;
}
