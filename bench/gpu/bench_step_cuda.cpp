// Times whole leapfrog steps on a GPU for every way to put them there, and writes JSON: microseconds a step
// by CUDA events, median of the runs. Use: bench_step_cuda OUT.json [runs]
#include "backend/cuda/devices.h"
#include "dynamics/cuda/device_motion.h"

#include <farfield/error.h>
#include <farfield/run.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using namespace farfield::cuda;
using Json = nlohmann::ordered_json;

constexpr double softening = 0.01;
constexpr double step = 1e-4;

Bodies plummer(std::int64_t n) {
    InitialOptions options;
    options.kind = InitialKind::plummer;
    options.n = n;
    return make_bodies(options);
}

// Steps a run, so that a run takes some 20 ms.
std::uint64_t steps_for(std::int64_t n) {
    const double microseconds = 3.0 + static_cast<double>(n) * static_cast<double>(n) * 1e-6;
    return static_cast<std::uint64_t>(std::clamp(2e4 / microseconds, 16.0, 4000.0)) / 16 * 16;
}

Json measure(const Bodies& bodies, StepPath path, Precision precision, int runs) {
    const auto n = bodies.size();
    MotionSetup setup;
    setup.softening = softening;
    setup.precision = precision;
    setup.path = path;
    setup.frame = choose_frame(bodies.position, {}, softening);
    DeviceMotion motion(setup, bodies);
    if (motion.path() != path) return {};
    const auto steps = steps_for(n);
    motion.time_steps(steps, step); // records graphs, warms up
    std::vector<double> times;
    for (int run = 0; run < runs; ++run)
        times.push_back(1e3 * motion.time_steps(steps, step) / static_cast<double>(steps));
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    const double pairs = static_cast<double>(n) * static_cast<double>(n - 1);
    std::printf("%-10s %-6s N=%-7lld %9.2f us a step (%.2f to %.2f), %.3g pairs/s%s\n",
                std::string(name_of(path)).c_str(), std::string(name_of(precision)).c_str(),
                static_cast<long long>(n), median, times.front(), times.back(), pairs / (1e-6 * median),
                path == fastest_path(n, precision) ? "  *" : "");
    std::fflush(stdout);
    return {{"path", name_of(path)},
            {"precision", name_of(precision)},
            {"n", n},
            {"chosen", path == fastest_path(n, precision)},
            {"runs", runs},
            {"steps_a_run", steps},
            {"median_us_a_step", median},
            {"fastest_us_a_step", times.front()},
            {"slowest_us_a_step", times.back()},
            {"pairs_per_second", pairs / (1e-6 * median)}};
}

int bench(const char* file, int runs) {
    const auto found = devices();
    if (found.empty()) throw BackendUnavailable(why_no_device());
    Json report{{"device", found.front().name},
                {"integrator", "leapfrog"},
                {"model", "Plummer, seed 1"},
                {"softening", softening},
                {"clock", "CUDA events around the steps of a run"}};
    for (const std::int64_t n : {256, 512, 1024, 2048, 4096, 5120, 6144, 8192, 10240, 12288, 16384, 65536}) {
        const auto bodies = plummer(n);
        for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed})
            for (const auto path : step_paths()) {
                if (path == StepPath::persistent && n > most_persistent_bodies(precision)) continue;
                auto row = measure(bodies, path, precision, runs);
                if (!row.is_null()) report["rows"].push_back(std::move(row));
            }
    }
    std::ofstream(file) << report.dump(1) << '\n';
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 2) throw InvalidArgument("use: bench_step_cuda OUT.json [runs]");
        return bench(argv[1], argc > 2 ? std::max(1, std::atoi(argv[2])) : 7);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_step_cuda: %s\n", error.what());
        return 1;
    }
}
