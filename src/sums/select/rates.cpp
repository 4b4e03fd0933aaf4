// Measures what the CPU and a GPU do, on a few thousand points, once a process for each kind of sum.
#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "sums/direct/cuda/gpu_sum.h"
#include "sums/direct/direct.h"
#include "sums/select/device.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <tuple>
#include <vector>

namespace farfield {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds of the fastest of `runs` calls.
template <class Work>
double fastest_seconds(int runs, Work&& work) {
    double best = 1e300;
    for (int run = 0; run < runs; ++run) {
        const auto start = Clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return best;
}

struct Cloud {
    explicit Cloud(std::size_t n) : points(3 * n), strengths(n, 1.0) {
        std::minstd_rand engine(1);
        for (double& x : points) x = static_cast<double>(engine()) * 0x1p-31;
    }
    [[nodiscard]] double pairs() const {
        return static_cast<double>(strengths.size()) * static_cast<double>(strengths.size());
    }
    std::vector<double> points, strengths;
};

SumOptions plain_options(const SumOptions& options) {
    // softened, as random points may coincide once rounded to float
    return {
        .softening = 1e-3, .precision = options.precision, .threads = options.threads, .isa = options.isa};
}

double cpu_seconds(const SumOptions& options, bool self, std::size_t n) {
    const Cloud cloud(n);
    DirectSum sum(plain_options(options), self);
    if (self)
        sum.set_sources(cloud.points);
    else
        sum.set_points(cloud.points, cloud.points);
    std::vector<double> field(3 * n);
    return fastest_seconds(2, [&] {
        SumReport report;
        sum.compute(cloud.strengths, {.potential = nullptr, .field = field.data()}, report);
    });
}

/// The best rate of ever larger sums: in small ones threads lack work, and any may be disturbed by another
/// program.
CpuRates measure_cpu(const SumOptions& options, bool self) {
    constexpr double long_sum = 4e-3;
    CpuRates rates{.threads = thread_count(options.threads)};
    rates.fixed_seconds = cpu_seconds(options, self, 64);
    for (const std::size_t n : {4096, 8192, 16384}) {
        const double seconds = cpu_seconds(options, self, n);
        const double pairs = static_cast<double>(n) * static_cast<double>(n);
        rates.pairs_per_second_a_thread =
            std::max(rates.pairs_per_second_a_thread, pairs / seconds / rates.threads);
        if (seconds > long_sum) break;
    }
    return rates;
}

struct GpuTimes {
    double whole, copy, kernel; ///< plan and sum; the copy of the points; the pair loop
};

GpuTimes gpu_times(const SumOptions& options, int device, std::size_t n, int runs) {
    const Cloud cloud(n);
    const auto points = matrix_view(std::span<const double>(cloud.points), 3);
    std::vector<double> field(3 * n);
    GpuTimes times{1e300, 1e300, 1e300};
    times.whole = fastest_seconds(runs, [&] {
        cuda::GpuSum sum(options, {device}, true);
        sum.set_points(points, {});
        times.copy = std::min(times.copy, fastest_seconds(1, [&] { sum.set_points(points, {}); }));
        SumReport report;
        sum.compute(std::span<const double>(cloud.strengths),
                    {.potential = {}, .field = matrix_view(std::span<double>(field), 3)}, report);
        times.kernel = std::min(times.kernel, report.compute_seconds);
    });
    return times;
}

GpuRates measure_gpu(Precision precision, int device) {
    constexpr std::size_t few = 256, enough = 16384;
    const auto options = plain_options({.precision = precision});
    const auto small = gpu_times(options, device, few, 3); // the first run starts CUDA and counts for nothing
    const auto large = gpu_times(options, device, enough, 3);
    const auto less_noise = [](double seconds) { return std::max(1e-7, seconds); };
    return {.start_seconds = 0.0,
            .fixed_seconds = small.whole,
            .bytes_per_second = 24.0 * (enough - few) / less_noise(large.copy - small.copy),
            .pairs_per_second =
                (Cloud(enough).pairs() - Cloud(few).pairs()) / less_noise(large.kernel - small.kernel)};
}

std::mutex& rates_mutex() {
    static std::mutex mutex;
    return mutex;
}

} // namespace

CpuRates measured_cpu_rates(const SumOptions& options, bool self) {
    static std::map<std::tuple<Isa, Precision, int, bool>, CpuRates> known;
    const std::tuple key{resolve_isa(options.isa), options.precision, thread_count(options.threads), self};
    const std::lock_guard lock(rates_mutex());
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    return known[key] = measure_cpu(options, self);
}

GpuRates measured_gpu_rates(Precision precision, int device) {
    static std::map<std::tuple<Precision, int>, GpuRates> known;
    const std::tuple key{precision, device};
    const std::lock_guard lock(rates_mutex());
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    return known[key] = measure_gpu(precision, device);
}

} // namespace farfield
