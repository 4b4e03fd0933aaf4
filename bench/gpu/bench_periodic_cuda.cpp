// Sums over a periodic cube beside sums over open space of the same points, by fast multipoles on a GPU to a
// tolerance: arrays in its memory, new points each time; and steps of a simulation in the box. Points spread
// evenly, charges of both signs that cancel, ε = 0. Errors are those of the sampled exact sums.
//     bench_periodic_cuda [N [tolerance]]      one case; none: the table, as JSON
#include "clouds.h"
#include "gpu_rows.h"

#include "dynamics/simulation/state.h"

#include <farfield/device.h>
#include <farfield/error.h>
#include <farfield/run.h>
#include <farfield/sum.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using namespace farfield::bench;
using Json = nlohmann::ordered_json;

constexpr int repeats = 12;

struct Setting {
    int n;
    double tolerance;
};

Points neutral_points(int n) {
    auto points = points_of({n, "cube"}, 1);
    double total = 0.0;
    for (const double q : points.q) total += q;
    for (auto& q : points.q) q -= total / n;
    return points;
}

Json measure_sum(const Setting& of, const Points& points, bool periodic) {
    SumOptions options;
    options.kernel = Kernel::coulomb;
    options.method = Method::fmm;
    options.tolerance = of.tolerance;
    if (periodic) options.period = {1.0, 1.0, 1.0};
    GpuRows x(points.x, 3), q(points.q, 1), phi(points.q.size(), 1), e(points.q.size(), 3);
    const auto begin = std::chrono::steady_clock::now();
    SumPlan plan(x.view(), options);
    SumOutputs outputs;
    outputs.potential = phi.view();
    outputs.field = e.view();
    plan.execute(q.view(), outputs);
    const double first = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double verified = plan.report().verify_seconds;
    const auto best = least_of(plan, x, q, outputs, repeats);
    Json passes = Json::object();
    for (const auto& pass : best.report.passes) passes[pass.name] = 1e3 * pass.seconds;
    const auto& report = best.report;
    return {{"points", of.n},
            {"tolerance", of.tolerance},
            {"sum", periodic ? "periodic" : "open"},
            {"precision", name_of(report.precision)},
            {"order", report.fmm.order},
            {"image_order", report.lattice.order},
            {"cells", report.lattice.cells},
            {"rim_images", report.lattice.rim_images},
            {"first_seconds", first - verified},
            {"milliseconds", best.milliseconds},
            {"passes_milliseconds", 1e3 * report.compute_seconds},
            {"potential_error", report.errors.at(0).relative},
            {"field_error", report.errors.at(1).relative},
            {"passes", passes}};
}

// Of bodies that hardly move: forces alone count.
Json measure_steps(const Setting& of, const Points& points, bool periodic) {
    Bodies bodies;
    bodies.position = points.x;
    bodies.velocity.assign(points.x.size(), 0.0);
    bodies.mass.assign(points.q.size(), 1e6 * of.n);
    bodies.charge = points.q;
    ForceOptions force{.kernel = Kernel::coulomb,
                       .method = Method::fmm,
                       .tolerance = of.tolerance,
                       .device = {.kind = DeviceKind::cuda}};
    if (periodic) force.period = {1.0, 1.0, 1.0};
    Simulation simulation(bodies, force, {.step = 1e-6, .end = 1.0});
    constexpr std::uint64_t steps = 20;
    double least = HUGE_VAL;
    for (int run = 0; run < 5; ++run) {
        GpuRows::wait();
        const auto begin = std::chrono::steady_clock::now();
        SimulationAccess::advance(simulation, steps);
        GpuRows::wait();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        least = std::min(least, 1e3 * taken.count() / static_cast<double>(steps));
    }
    const auto row = simulation.diagnostics();
    return {{"points", of.n},
            {"tolerance", of.tolerance},
            {"step", periodic ? "periodic" : "open"},
            {"order", SimulationAccess::force_settings(simulation).order},
            {"milliseconds", least},
            {"acceleration_error", row.acceleration_error}};
}

} // namespace

int main(int argc, char** argv) {
    std::vector<Setting> cases;
    if (argc > 1)
        cases.push_back({std::stoi(argv[1]), argc > 2 ? std::stod(argv[2]) : 1e-4});
    else
        for (const int n : {100000, 1000000})
            for (const double tolerance : {1e-4, 1e-6}) cases.push_back({n, tolerance});
    Json out = {{"name", "sums over a periodic cube by fast multipoles on a GPU"},
                {"gpu", gpus().empty() ? std::string("none") : gpus().front().name},
                {"repeats", repeats},
                {"rows", Json::array()}};
    for (const auto& of : cases) {
        const auto points = neutral_points(of.n);
        for (const bool periodic : {false, true})
            for (const auto& measure : {measure_sum, measure_steps}) {
                try {
                    out["rows"].push_back(measure(of, points, periodic));
                } catch (const farfield::Error& error) {
                    out["rows"].push_back(
                        {{"points", of.n}, {"tolerance", of.tolerance}, {"error", error.what()}});
                }
            }
    }
    std::printf("%s\n", out.dump(2).c_str());
    return 0;
}
