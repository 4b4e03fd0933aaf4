#include "studies/study_timer.h"

#include "backend/threads/parallel.h"
#include "dynamics/cuda/device_motion.h"
#include "sums/direct/cuda/device_sum.h"
#include "sums/points/prepared.h"

#include <farfield/run.h>

#include <fmt/core.h>

#include <chrono>
#include <utility>
#include <vector>

namespace farfield {

namespace {

Bodies plummer_bodies(std::int64_t n) {
    InitialOptions initial;
    initial.kind = InitialKind::plummer;
    initial.n = n;
    return make_bodies(initial);
}

} // namespace

StudyTimer::StudyTimer(int repeats, std::optional<int> gpu, int threads, StudyProgress progress)
    : repeats_(repeats), gpu_(gpu), threads_(thread_count(threads)), progress_(std::move(progress)) {}

const BenchPoints& StudyTimer::points(std::int64_t n) {
    auto place = points_.find(n);
    if (place == points_.end()) place = points_.emplace(n, make_bench_points(n)).first;
    return place->second;
}

const SampledTruth& StudyTimer::truth(std::int64_t n, bool rounded) {
    auto place = truths_.find({n, rounded});
    if (place == truths_.end())
        place = truths_
                    .emplace(std::pair(n, rounded),
                             SampledTruth(points(n), static_cast<std::size_t>(n), rounded, bench_softening))
                    .first;
    return place->second;
}

Timed StudyTimer::cpu(std::int64_t n, Variant variant, Isa isa, int threads, Precision precision) {
    const auto key = std::tuple(n, variant, isa, threads, precision);
    if (const auto known = cpu_times_.find(key); known != cpu_times_.end()) return known->second;
    tell(fmt::format("{} on the CPU (threads: {}), {}, N = {}", name_of(variant), threads, name_of(precision),
                     n));
    const auto& from = points(n);
    SumPlan plan(matrix_view(std::span<const double>(from.xyz), 3), {.softening = bench_softening,
                                                                     .precision = precision,
                                                                     .threads = threads,
                                                                     .isa = isa,
                                                                     .variant = variant,
                                                                     .device = {.kind = DeviceKind::cpu}});
    std::vector<double> field(from.xyz.size());
    std::vector<double> seconds;
    for (int run = -1; run < repeats_; ++run) { // the first warms up
        plan.execute(std::span<const double>(from.mass), {.field = matrix_view(std::span<double>(field), 3)});
        if (run >= 0) seconds.push_back(plan.report().compute_seconds);
    }
    const Timed timed{n, median(seconds), truth(n, precision == Precision::float32).error(field)};
    cpu_times_.emplace(key, timed);
    return timed;
}

Timed StudyTimer::gpu(std::int64_t n, cuda::Rung rung, Precision precision, int steps) {
    const auto key = std::tuple(n, rung, precision, steps);
    if (const auto known = gpu_times_.find(key); known != gpu_times_.end()) return known->second;
    tell(fmt::format("{}, {}, N = {}", cuda::info_of(rung).name, name_of(precision), n));
    const auto& from = points(n);
    cuda::DeviceSum sum({.device = *gpu_,
                         .rung = rung,
                         .precision = precision,
                         .softening = bench_softening,
                         .potential = false,
                         .field = true});
    sum.set_points(from.xyz, from.mass);
    sum.run();
    std::vector<double> seconds;
    for (int run = 0; run < repeats_; ++run) {
        double all = 0.0;
        for (int step = 0; step < steps; ++step) all += 1e-3 * sum.run();
        seconds.push_back(all);
    }
    std::vector<double> field(from.xyz.size());
    sum.fetch({}, field);
    const Timed timed{n, median(seconds), truth(n, precision == Precision::float32).error(field)};
    gpu_times_.emplace(key, timed);
    return timed;
}

StepTime StudyTimer::gpu_steps(std::int64_t n, cuda::Rung rung, int steps) {
    const auto key = std::tuple(n, rung, steps);
    if (const auto known = step_times_.find(key); known != step_times_.end()) return known->second;
    tell(fmt::format("{} whole steps, {}, N = {}", steps, cuda::info_of(rung).name, n));
    constexpr double length = 1.0 / 1024.0;
    const auto bodies = plummer_bodies(n);
    cuda::MotionSetup setup;
    setup.devices = {*gpu_};
    setup.softening = bench_softening;
    setup.precision = Precision::float32;
    setup.frame = choose_frame(bodies.position, {}, bench_softening);
    setup.variant = cuda::variant_of(rung);
    setup.times_sums = steps == 1; // events between many short steps would be felt
    cuda::DeviceMotion motion(setup, bodies);
    motion.time_steps(1, length); // warms up
    std::vector<double> seconds, shares;
    for (int run = 0; run < repeats_; ++run) {
        const double whole = motion.time_steps(static_cast<std::uint64_t>(steps), length);
        seconds.push_back(1e-3 * whole);
        if (setup.times_sums) shares.push_back(motion.sum_milliseconds() / whole);
    }
    StepTime timed{n, median(seconds), {}};
    if (setup.times_sums) timed.sum_share = median(shares);
    step_times_.emplace(key, timed);
    return timed;
}

double StudyTimer::simulation(std::int64_t n, int steps, bool on_gpu) const {
    constexpr double step = 1.0 / 1024.0;
    constexpr int warm_up = 64;
    tell(fmt::format("{} steps on the {}, N = {}", steps, on_gpu ? "GPU" : "CPU", n));
    DeviceChoice device{.kind = DeviceKind::cpu};
    if (on_gpu) device = {.kind = DeviceKind::cuda, .gpus = {*gpu_}};
    Simulation simulation(plummer_bodies(n),
                          {.softening = bench_softening, .threads = threads_, .device = device},
                          {.step = step, .end = step * (warm_up + repeats_ * steps)});
    double end = step * warm_up;
    simulation.advance_to(end);
    static_cast<void>(simulation.bodies()); // waits for the GPU
    std::vector<double> seconds;
    for (int run = 0; run < repeats_; ++run) {
        end += step * steps;
        const auto start = std::chrono::steady_clock::now();
        simulation.advance_to(end);
        static_cast<void>(simulation.bodies());
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return median(seconds);
}

} // namespace farfield
