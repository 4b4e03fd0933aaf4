#include "studies/tune_measure.h"

#include "backend/threads/parallel.h"
#include "sums/costs/threads.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/cpu/direct.h"
#include "sums/direct/cuda/sum/gpu_sum.h"

#include <farfield/run.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace farfield {
namespace {

constexpr std::array isas{Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512};
constexpr std::array precisions{Precision::float32, Precision::float64, Precision::mixed};
constexpr std::int64_t few_points = 64;
constexpr double shortest = 1e-7; ///< seconds that a difference of two measurements counts at least

struct Cloud {
    explicit Cloud(std::int64_t n)
        : points(3 * static_cast<std::size_t>(n)), strengths(static_cast<std::size_t>(n), 1.0) {
        std::minstd_rand engine(1);
        for (double& x : points) x = static_cast<double>(engine()) * 0x1p-31;
    }
    [[nodiscard]] double pairs() const {
        return static_cast<double>(strengths.size()) * static_cast<double>(strengths.size());
    }
    std::vector<double> points, strengths;
};

// Softened, as random points may coincide once rounded to float.
SumOptions plain_options(Precision precision, int threads = 0, Isa isa = Isa::automatic) {
    return {.softening = 1e-3, .precision = precision, .threads = threads, .isa = isa};
}

double fastest_seconds(const MeasureSettings& settings, const std::function<void()>& work) {
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run == 0 || (run < settings.repeats && !is_to_stop(settings)); ++run)
        best = std::min(best, seconds_of(work));
    return best;
}

double cpu_seconds(const SumOptions& options, bool self, std::int64_t n, const MeasureSettings& settings) {
    const Cloud cloud(n);
    DirectSum sum(options, self);
    if (self)
        sum.set_sources(cloud.points);
    else
        sum.set_points(cloud.points, cloud.points);
    std::vector<double> field(cloud.points.size());
    return fastest_seconds(settings, [&] {
        SumReport report;
        LapWatch watch(true);
        sum.compute(cloud.strengths, {.potential = nullptr, .field = field.data()}, report, watch);
    });
}

// The best rate of ever larger sums: in small ones threads lack work, and any may be disturbed by another
// program.
double cpu_rate(const SumOptions& options, bool self, const MeasureSettings& settings) {
    constexpr double long_sum = 4e-3;
    const int threads = thread_count(options.threads);
    double rate = 0.0;
    for (std::int64_t n = std::min<std::int64_t>(4096, settings.points); n <= settings.points; n *= 2) {
        const double seconds = std::max(shortest, cpu_seconds(options, self, n, settings));
        rate = std::max(rate, static_cast<double>(n) * static_cast<double>(n) / seconds / threads);
        if (seconds > long_sum) break;
    }
    return rate;
}

// What a sum takes on two threads beyond half of what it takes on one.
double thread_seconds(const MeasureSettings& settings) {
    constexpr std::int64_t points = 1500; // some tenths of a millisecond
    const double alone = cpu_seconds(plain_options(Precision::float64, 1), true, points, settings);
    const double together = cpu_seconds(plain_options(Precision::float64, 2), true, points, settings);
    return std::max(shortest, together - alone / 2.0);
}

std::string kind_of(bool self) { return self ? "a sum of points on themselves" : "a sum at other targets"; }

struct GpuTimes {
    double whole, copy, kernel; ///< plan and sum; the copy of the points; the pair loop
};

GpuTimes gpu_times(Precision precision, int device, bool self, std::int64_t n,
                   const MeasureSettings& settings) {
    const Cloud cloud(n);
    const auto points = matrix_view(std::span<const double>(cloud.points), 3);
    const auto targets = self ? ConstArrayView{} : points;
    std::vector<double> field(cloud.points.size());
    const double infinity = std::numeric_limits<double>::infinity();
    GpuTimes times{infinity, infinity, infinity};
    times.whole = fastest_seconds(settings, [&] {
        const auto sum = cuda::make_gpu_sum(plain_options(precision), {device}, self);
        sum->set_points(points, targets);
        times.copy = std::min(times.copy, seconds_of([&] { sum->set_points(points, targets); }));
        SumReport report;
        sum->execute(std::span<const double>(cloud.strengths),
                     {.potential = {}, .field = matrix_view(std::span<double>(field), 3)}, {}, report);
        times.kernel = std::min(times.kernel, report.compute_seconds);
    });
    return times;
}

// Sums of at least `n` points, twice as many until the pair loop is long: in short ones multiprocessors lack
// work and the clock has not risen yet.
std::pair<std::int64_t, GpuTimes> long_gpu_times(Precision precision, int device, bool self, std::int64_t n,
                                                 const MeasureSettings& settings) {
    constexpr double long_loop = 4e-3;
    constexpr std::int64_t most = 1 << 19;
    for (;; n *= 2) {
        const auto times = gpu_times(precision, device, self, n, settings);
        if (times.kernel > long_loop || 2 * n > most) return {n, times};
    }
}

struct StepTimes {
    double start, step; ///< of a simulation of few bodies on a GPU that has started
};

StepTimes step_times(int device) {
    constexpr double step = 1.0 / 1024.0;
    constexpr int steps = 4096;
    InitialOptions initial;
    initial.kind = InitialKind::plummer;
    initial.n = 256;
    const auto bodies = make_bodies(initial);
    std::optional<Simulation> simulation;
    const double start = seconds_of([&] {
        simulation.emplace(bodies,
                           ForceOptions{.softening = 1e-2,
                                        .precision = Precision::float32,
                                        .device = {.kind = DeviceKind::cuda, .gpus = {device}}},
                           TimeOptions{.step = step, .end = step * (steps + 1)});
        simulation->step();
        static_cast<void>(simulation->bodies());
    });
    const double all = seconds_of([&] {
        simulation->advance_to(step * (steps + 1));
        static_cast<void>(simulation->bodies());
    });
    return {start, all / steps};
}

} // namespace

bool is_to_stop(const MeasureSettings& settings) {
    return settings.stop_requested && settings.stop_requested();
}

bool ends_before(const MeasureSettings& settings, const std::string& what) {
    if (settings.progress) settings.progress(what);
    return is_to_stop(settings);
}

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool measure_cpu(const MeasureSettings& settings, CostTable& costs) {
    if (ends_before(settings, "a sum of few points on the CPU")) return false;
    costs.costs[std::string(direct_cost::cpu_fixed_seconds)] =
        cpu_seconds(plain_options(Precision::float64, settings.threads), true, few_points, settings);
    if (thread_count(settings.threads) > 1) {
        if (ends_before(settings, "a second thread")) return false;
        costs.costs[std::string(cpu_thread_seconds)] = thread_seconds(settings);
    }
    for (const auto isa : isas) {
        if (!is_available(isa)) continue;
        for (const auto precision : precisions)
            for (const bool self : {true, false}) {
                if (ends_before(settings,
                                fmt::format("{}, {}, {}", name_of(isa), name_of(precision), kind_of(self))))
                    return false;
                costs.costs[direct_cost::cpu_pairs_per_second(isa, precision, self)] =
                    cpu_rate(plain_options(precision, settings.threads, isa), self, settings);
            }
    }
    return !is_to_stop(settings);
}

bool measure_gpu(const MeasureSettings& settings, int device, const std::string& name, double seconds_to_ask,
                 CostTable& costs) {
    constexpr std::int64_t few = 256;
    const auto model = cost_word(name);
    const auto set = [&](std::string_view pattern, double value) {
        costs.costs[of_model(pattern, model)] = std::max(shortest, value);
    };
    if (ends_before(settings, fmt::format("the start of CUDA on {}", name))) return false;
    const double first =
        seconds_of([&] { gpu_times(Precision::float64, device, true, few, {.repeats = 1}); });
    for (const auto precision : precisions)
        for (const bool self : {true, false}) {
            if (ends_before(settings, fmt::format("{}, {}, {}", name, name_of(precision), kind_of(self))))
                return false;
            const auto small = gpu_times(precision, device, self, few, settings);
            const auto [enough, large] =
                long_gpu_times(precision, device, self, std::max(settings.points, 4 * few), settings);
            set(direct_cost::gpu_pairs_per_second(precision, self),
                (Cloud(enough).pairs() - Cloud(few).pairs()) /
                    std::max(shortest, large.kernel - small.kernel));
            if (precision != Precision::float64 || !self) continue;
            set(direct_cost::gpu_start_seconds, seconds_to_ask + first - small.whole);
            set(direct_cost::gpu_fixed_seconds, small.whole);
            set(direct_cost::gpu_bytes_per_second,
                24.0 * static_cast<double>(enough - few) / std::max(shortest, large.copy - small.copy));
        }
    if (ends_before(settings, fmt::format("{}, steps of few bodies", name))) return false;
    const auto times = step_times(device);
    set(direct_cost::gpu_run_start_seconds, times.start);
    set(direct_cost::gpu_step_seconds, times.step);
    return !is_to_stop(settings);
}

} // namespace farfield
