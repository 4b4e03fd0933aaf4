// Whole steps of a Plummer cluster whose forces are fast multipole sums on a GPU, where the bodies stay:
// steps a second, errors of forces and of the energy, as JSON on standard output.
//     bench_run_cuda [N [tolerance [mixed|double [softening [leapfrog|yoshida4 [fmm|direct [order
//     [GPUs [leaf]]]]]]]]]
// One case; without arguments the table. Every case takes 5 runs of steps after a warm-up.
#include "backend/cuda/memory.h"
#include "dynamics/simulation/state.h"

#include <farfield/device.h>
#include <farfield/error.h>
#include <farfield/run.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace farfield;
using Json = nlohmann::ordered_json;

struct Case {
    std::int64_t n;
    double tolerance;
    Precision precision = Precision::mixed;
    double softening = 0.0;
    Integrator integrator = Integrator::leapfrog;
    Method method = Method::fmm;
    int order = 0; ///< 0: as the tolerance asks
    int gpus = 1;
    int leaf = 0; ///< 0: as the method chooses
};

constexpr double step = 1.0 / 4096;
constexpr int runs = 5;
constexpr double run_seconds = 0.4;

class Clock {
public:
    /// Since construction or the last lap, with all work of the GPU.
    double lap() {
        cuda::check(cudaDeviceSynchronize(), "waiting for the GPU");
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Bodies plummer(std::int64_t n) {
    InitialOptions options;
    options.kind = InitialKind::plummer;
    options.n = n;
    return make_bodies(options);
}

Json measure(const Case& of) {
    ForceOptions force{.method = of.method,
                       .softening = of.softening,
                       .tolerance = of.tolerance,
                       .order = of.order,
                       .leaf = of.leaf,
                       .precision = of.precision,
                       .device = {.kind = DeviceKind::cuda}};
    for (int gpu = 0; gpu < of.gpus; ++gpu) force.device.gpus.push_back(gpu);
    Clock clock;
    Simulation simulation(plummer(of.n), force, {.integrator = of.integrator, .step = step, .end = 1.0});
    const double start = clock.lap();
    const double before = simulation.diagnostics().total;
    clock.lap();
    SimulationAccess::advance(simulation, 2);
    const double guess = clock.lap() / 2.0;
    const auto steps = static_cast<std::uint64_t>(std::clamp(run_seconds / guess, 2.0, 400.0));
    SimulationAccess::advance(simulation, steps); // warms up
    clock.lap();
    std::vector<double> seconds;
    for (int run = 0; run < runs; ++run) {
        SimulationAccess::advance(simulation, steps);
        seconds.push_back(clock.lap() / static_cast<double>(steps));
    }
    std::sort(seconds.begin(), seconds.end());
    clock.lap();
    const auto row = simulation.diagnostics();
    const double diagnostics = clock.lap();
    const auto& settings = SimulationAccess::force_settings(simulation);
    const double median = seconds[seconds.size() / 2];
    return {{"bodies", of.n},
            {"gpus", of.gpus},
            {"method", name_of(of.method)},
            {"integrator", name_of(of.integrator)},
            {"precision", name_of(of.precision)},
            {"softening", of.softening},
            {"tolerance", of.tolerance},
            {"order", settings.order},
            {"leaf", settings.leaf},
            {"step", step},
            {"steps_a_run", steps},
            {"steps_a_second", 1.0 / median},
            {"slowest_steps_a_second", 1.0 / seconds.back()},
            {"fastest_steps_a_second", 1.0 / seconds.front()},
            {"start_seconds", start},
            {"diagnostics_seconds", diagnostics},
            {"steps", simulation.step_count()},
            {"relative_energy_error", (row.total - before) / std::abs(before)},
            {"acceleration_error", row.acceleration_error},
            {"potential_error", std::isnan(row.potential_error) ? Json() : Json(row.potential_error)}};
}

std::vector<Case> table() {
    constexpr std::int64_t million = 1000000;
    std::vector<Case> cases;
    constexpr double softening = 0.01;
    const auto add = [&](std::int64_t n, double tolerance, double epsilon, int order = 0) {
        cases.push_back({n, tolerance, Precision::mixed, epsilon});
        cases.back().order = order;
    };
    for (const double tolerance : {1e-3, 1e-4, 1e-5}) add(million, tolerance, softening);
    for (const int order : {4, 5, 6}) add(million, 1e-2, softening, order); // the error is looked at, too
    for (const double tolerance : {1e-3, 1e-5}) add(million, tolerance, 0.0);
    add(million, 1e-2, 0.0, 4);
    cases.push_back({million, 1e-4, Precision::float64, softening});
    cases.push_back({million, 1e-4, Precision::mixed, softening, Integrator::yoshida4});
    for (const std::int64_t n : {std::int64_t{10000}, std::int64_t{100000}}) {
        add(n, 1e-3, softening);
        cases.push_back({n, 1e-3, Precision::mixed, softening, Integrator::leapfrog, Method::direct});
    }
    return cases;
}

int bench(int argc, char** argv) {
    std::vector<Case> cases;
    const auto word = [&](int k, const char* usual) { return std::string(argc > k ? argv[k] : usual); };
    if (argc > 1)
        cases.push_back({std::stoll(word(1, "")), std::stod(word(2, "1e-4")),
                         from_name<Precision>(word(3, "mixed")).value(), std::stod(word(4, "0")),
                         from_name<Integrator>(word(5, "leapfrog")).value(),
                         from_name<Method>(word(6, "fmm")).value(), std::stoi(word(7, "0")),
                         std::stoi(word(8, "1")), std::stoi(word(9, "0"))});
    else
        cases = table();
    if (gpus().empty()) throw std::runtime_error(why_no_gpu());
    Json out = {{"name", "steps of a Plummer cluster on a GPU"},
                {"gpu", gpus().front().name},
                {"model", "Plummer, seed 1"},
                {"rows", Json::array()}};
    for (const auto& of : cases) {
        try {
            out["rows"].push_back(measure(of));
        } catch (const Error& error) { // such as a tolerance that is out of reach
            out["rows"].push_back({{"bodies", of.n}, {"tolerance", of.tolerance}, {"error", error.what()}});
        }
    }
    std::printf("%s\n", out.dump(2).c_str());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return bench(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_run_cuda: %s\n", error.what());
        return 1;
    }
}
