#include "studies/bench_split.h"

#include "backend/cuda/devices.h"
#include "backend/cuda/host_buffer.h"
#include "backend/threads/parallel.h"
#include "base/machine.h"
#include "studies/bench_points.h"
#include "sums/direct/cuda/device_sum.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <optional>
#include <thread>

namespace farfield {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A body's field from all others, for the first n − m bodies by the GPU, for the last m by the CPU.
class Split {
public:
    Split(const BenchPoints& points, Precision precision, std::int64_t cpu_targets, int threads, int device)
        : points_(points), n_(points.mass.size()), first_(n_ - static_cast<std::size_t>(cpu_targets)),
          pinned_(4 * n_), own_(gpu_sum(cuda::Rung::symmetric, precision, device)), own_field_(3 * first_) {
        std::copy(points.xyz.begin(), points.xyz.end(), pinned_.values().begin());
        std::copy(points.mass.begin(), points.mass.end(), pinned_.values().subspan(3 * n_).begin());
        const std::span xyz(points.xyz);
        set_own();
        if (cpu_targets == 0) return;
        others_.emplace(gpu_sum(cuda::Rung::register_tile, precision, device));
        others_field_.emplace(3 * first_);
        set_others();
        // a plan a thread, as a plan hands out 256 targets at a time and here there are few
        cpu_field_.resize(static_cast<std::size_t>(3 * cpu_targets));
        const auto parts = std::min<std::int64_t>(threads, (cpu_targets + 31) / 32);
        for (std::int64_t part = 0; part < parts; ++part) {
            const auto begin = static_cast<std::size_t>(3 * (part * cpu_targets / parts));
            const auto end = static_cast<std::size_t>(3 * ((part + 1) * cpu_targets / parts));
            shares_.push_back(
                {SumPlan(matrix_view(xyz, 3), matrix_view(xyz.subspan(3 * first_ + begin, end - begin), 3),
                         {.softening = bench_softening,
                          .precision = precision,
                          .threads = 1,
                          .device = {.kind = DeviceKind::cpu}}),
                 std::span(cpu_field_).subspan(begin, end - begin)});
        }
    }

    struct Seconds {
        double all, cpu, gpu;
    };
    /// The sums alone, of points that are where they are summed.
    Seconds run() {
        return run_beside_cpu({[this] {
            own_.run();
            if (others_) others_->run();
        }});
    }
    /// Points go to the GPU, their sums come back: one after the other, or, `overlapped`, the GPU's two sums
    /// on a thread and stream each, so that one moves its data while the other computes.
    Seconds run_with_transfers(bool overlapped) {
        const auto own = [this] { move_and_run(own_, own_field_); };
        const auto others = [this] {
            if (others_) move_and_run(*others_, *others_field_);
        };
        if (overlapped) return run_beside_cpu({own, others});
        return run_beside_cpu({[own, others] {
            own();
            others();
        }});
    }

    [[nodiscard]] std::vector<double> field() const {
        std::vector<double> all(3 * first_);
        own_.fetch({}, all);
        if (others_) {
            std::vector<double> more(all.size());
            others_->fetch({}, more);
            add_to(all, more);
        }
        all.insert(all.end(), cpu_field_.begin(), cpu_field_.end());
        return all;
    }

    /// What `run_with_transfers` brought back.
    [[nodiscard]] std::vector<double> moved_field() const {
        const auto first = own_field_.values();
        std::vector<double> all(first.begin(), first.end());
        if (others_) add_to(all, others_field_->values());
        all.insert(all.end(), cpu_field_.begin(), cpu_field_.end());
        return all;
    }

private:
    using Job = std::function<void()>;

    static void add_to(std::vector<double>& all, std::span<const double> more) {
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += more[i];
    }

    void set_own() { own_.set_points(moved_xyz().first(3 * first_), moved_mass().first(first_)); }
    void set_others() {
        others_->set_points(moved_xyz().subspan(3 * first_), moved_mass().subspan(first_),
                            moved_xyz().first(3 * first_));
    }
    void move_and_run(cuda::DeviceSum& sum, cuda::HostBuffer& field) {
        if (&sum == &own_)
            set_own();
        else
            set_others();
        sum.run();
        sum.fetch({}, field.values());
    }
    [[nodiscard]] std::span<const double> moved_xyz() const { return pinned_.values().first(3 * n_); }
    [[nodiscard]] std::span<const double> moved_mass() const { return pinned_.values().subspan(3 * n_); }

    /// Each job on a thread of its own, while this one and its team sum the CPU's share.
    Seconds run_beside_cpu(const std::vector<Job>& jobs) {
        Seconds out{};
        std::vector<std::exception_ptr> failures(jobs.size() + 1);
        std::vector<double> ends(jobs.size());
        const auto start = Clock::now();
        std::vector<std::thread> threads;
        for (std::size_t k = 0; k < jobs.size(); ++k)
            threads.emplace_back([&, k] {
                try {
                    jobs[k]();
                    ends[k] = seconds_since(start);
                } catch (...) {
                    failures[k] = std::current_exception();
                }
            });
        try {
            sum_on_cpu();
        } catch (...) {
            failures.back() = std::current_exception();
        }
        out.cpu = shares_.empty() ? 0.0 : seconds_since(start);
        for (auto& thread : threads) thread.join();
        out.all = seconds_since(start);
        out.gpu = *std::max_element(ends.begin(), ends.end());
        for (const auto& failure : failures)
            if (failure) std::rethrow_exception(failure);
        return out;
    }

    void sum_on_cpu() {
        const auto parts = static_cast<std::int64_t>(shares_.size());
        if (parts == 0) return;
        parallel_for(static_cast<int>(parts), parts, [&](std::int64_t part) {
            auto& share = shares_[static_cast<std::size_t>(part)];
            share.plan.execute(std::span<const double>(points_.mass), {.field = matrix_view(share.field, 3)});
        });
    }

    static cuda::DeviceSum gpu_sum(cuda::Rung rung, Precision precision, int device) {
        return cuda::DeviceSum({.device = device,
                                .rung = rung,
                                .precision = precision,
                                .softening = bench_softening,
                                .potential = false,
                                .field = true});
    }

    const BenchPoints& points_;
    std::size_t n_;
    std::size_t first_;       ///< bodies of the GPU
    cuda::HostBuffer pinned_; ///< coordinates, then masses
    cuda::DeviceSum own_;
    cuda::HostBuffer own_field_;
    std::optional<cuda::DeviceSum> others_;
    std::optional<cuda::HostBuffer> others_field_;
    struct Share {
        SumPlan plan;
        std::span<double> field;
    };
    std::vector<double> cpu_field_;
    std::vector<Share> shares_;
};

BenchSplitRow measure(const BenchPoints& points, const SampledTruth& truth, Precision precision,
                      std::int64_t cpu_targets, int threads, const BenchSplitOptions& options) {
    if (options.progress)
        options.progress(fmt::format("{}, N = {}, {} targets on the CPU", name_of(precision),
                                     points.mass.size(), cpu_targets));
    Split split(points, precision, cpu_targets, threads, options.device);
    std::vector<double> all, cpu, gpu, serial, overlapped;
    for (int run = -1; run < options.repeats; ++run) { // the first warms up
        const auto seconds = split.run();
        const double one_by_one = split.run_with_transfers(false).all;
        const double at_once = split.run_with_transfers(true).all;
        if (run < 0) continue;
        all.push_back(seconds.all);
        cpu.push_back(seconds.cpu);
        gpu.push_back(seconds.gpu);
        serial.push_back(one_by_one);
        overlapped.push_back(at_once);
    }
    const auto field = split.field();
    if (split.moved_field() != field)
        throw InternalError("sums whose transfers overlap have other bits than those without");
    return {.precision = precision,
            .n = static_cast<std::int64_t>(points.mass.size()),
            .cpu_targets = cpu_targets,
            .seconds = median(all),
            .cpu_seconds = median(cpu),
            .gpu_seconds = median(gpu),
            .serial_seconds = median(serial),
            .overlapped_seconds = median(overlapped),
            .error = truth.error(field)};
}

double pairs(const BenchSplitRow& row) { return static_cast<double>(row.n) * static_cast<double>(row.n - 1); }

void add_rows(const BenchPoints& points, Precision precision, const BenchSplitOptions& options,
              BenchSplitReport& report) {
    const auto n = static_cast<std::int64_t>(points.mass.size());
    const SampledTruth truth(points, points.mass.size(), precision == Precision::float32, bench_softening);
    const auto alone = measure(points, truth, precision, 0, report.threads, options);
    // with 1/64 of the targets the CPU takes long enough to be timed, while the GPU is busy
    const auto probe = measure(points, truth, precision, n / 64, report.threads, options);
    const double cpu_rate =
        static_cast<double>(probe.cpu_targets) * static_cast<double>(n) / std::max(probe.cpu_seconds, 1e-9);
    const double gpu_rate = pairs(alone) / alone.seconds;
    report.rows.push_back(alone);
    for (const double scale : {0.25, 0.5, 0.75, 1.0, 1.25})
        report.rows.push_back(measure(points, truth, precision, split_targets(n, cpu_rate, gpu_rate, scale),
                                      report.threads, options));
    for (auto& row : report.rows)
        if (row.gain == 0.0) row.gain = alone.seconds / row.seconds;
}

} // namespace

std::int64_t split_targets(std::int64_t n, double cpu_rate, double gpu_rate, double scale) {
    const double share = scale * cpu_rate / (cpu_rate + gpu_rate);
    const auto targets = std::llround(share * static_cast<double>(n) / 32.0) * 32;
    return std::clamp<std::int64_t>(targets, 32, (n - 1) / 32 * 32);
}

BenchSplitReport bench_split(const BenchSplitOptions& options) {
    if (options.repeats < 1)
        throw InvalidArgument(fmt::format("repeats is {}; it must be ≥ 1", options.repeats));
    cuda::use_device(options.device);
    BenchSplitReport report;
    report.cpu = this_machine().cpu;
    report.threads = options.threads > 0 ? options.threads : std::max(1, thread_count(0) - 1);
    report.device = cuda::devices().at(static_cast<std::size_t>(options.device)).name;
    report.repeats = options.repeats;
    for (const auto n : options.sizes) {
        if (n < 1024)
            throw InvalidArgument(fmt::format("n is {}; a sum to be divided must have ≥ 1024 points", n));
        const auto points = make_bench_points(n);
        for (const auto precision : {Precision::float32, Precision::float64})
            add_rows(points, precision, options, report);
    }
    return report;
}

} // namespace farfield
