#include "studies/bench_split.h"

#include "backend/cuda/devices.h"
#include "backend/threads/parallel.h"
#include "base/machine.h"
#include "io/atomic_file.h"
#include "studies/bench_points.h"
#include "sums/direct/cuda/device_sum.h"

#include <farfield/error.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <iterator>
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
        : points_(points), first_(points.mass.size() - static_cast<std::size_t>(cpu_targets)),
          own_(gpu_sum(cuda::Rung::symmetric, precision, device)) {
        const std::span xyz(points.xyz);
        const std::span mass(points.mass);
        own_.set_points(xyz.first(3 * first_), mass.first(first_));
        if (cpu_targets == 0) return;
        others_.emplace(gpu_sum(cuda::Rung::register_tile, precision, device));
        others_->set_points(xyz.subspan(3 * first_), mass.subspan(first_), xyz.first(3 * first_));
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
    Seconds run() {
        Seconds out{};
        std::exception_ptr failure;
        const auto start = Clock::now();
        std::thread gpu([&] {
            try {
                own_.run();
                if (others_) others_->run();
                out.gpu = seconds_since(start);
            } catch (...) {
                failure = std::current_exception();
            }
        });
        try {
            const auto parts = static_cast<std::int64_t>(shares_.size());
            if (parts > 0)
                parallel_for(static_cast<int>(parts), parts, [&](std::int64_t part) {
                    auto& share = shares_[static_cast<std::size_t>(part)];
                    share.plan.execute(std::span<const double>(points_.mass),
                                       {.field = matrix_view(share.field, 3)});
                });
        } catch (...) {
            gpu.join();
            throw;
        }
        out.cpu = shares_.empty() ? 0.0 : seconds_since(start);
        gpu.join();
        out.all = seconds_since(start);
        if (failure) std::rethrow_exception(failure);
        return out;
    }

    [[nodiscard]] std::vector<double> field() const {
        std::vector<double> all(3 * first_);
        own_.fetch({}, all);
        if (others_) {
            std::vector<double> more(all.size());
            others_->fetch({}, more);
            for (std::size_t i = 0; i < all.size(); ++i) all[i] += more[i];
        }
        all.insert(all.end(), cpu_field_.begin(), cpu_field_.end());
        return all;
    }

private:
    static cuda::DeviceSum gpu_sum(cuda::Rung rung, Precision precision, int device) {
        return cuda::DeviceSum({.device = device,
                                .rung = rung,
                                .precision = precision,
                                .softening = bench_softening,
                                .potential = false,
                                .field = true});
    }

    const BenchPoints& points_;
    std::size_t first_; ///< bodies of the GPU
    cuda::DeviceSum own_;
    std::optional<cuda::DeviceSum> others_;
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
    std::vector<double> all, cpu, gpu;
    for (int run = -1; run < options.repeats; ++run) { // the first warms up
        const auto seconds = split.run();
        if (run < 0) continue;
        all.push_back(seconds.all);
        cpu.push_back(seconds.cpu);
        gpu.push_back(seconds.gpu);
    }
    return {.precision = precision,
            .n = static_cast<std::int64_t>(points.mass.size()),
            .cpu_targets = cpu_targets,
            .seconds = median(all),
            .cpu_seconds = median(cpu),
            .gpu_seconds = median(gpu),
            .error = truth.error(split.field())};
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

std::string to_text(const BenchSplitReport& report) {
    auto out = fmt::format("One sum divided between {} ({} threads) and {}; medians of {} by the clock.\n\n"
                           "{:<6} {:>8} {:>9} {:>8} {:>10} {:>10} {:>10} {:>7} {:>8}\n",
                           report.cpu, report.threads, report.device, report.repeats, "", "N", "CPU has",
                           "share", "ms", "CPU ms", "GPU ms", "gain", "error");
    for (const auto& row : report.rows)
        fmt::format_to(std::back_inserter(out),
                       "{:<6} {:>8} {:>9} {:>7.2f}% {:>10.4f} {:>10.4f} {:>10.4f} {:>7.3f} {:>8.1e}\n",
                       name_of(row.precision), row.n, row.cpu_targets,
                       100.0 * static_cast<double>(row.cpu_targets) / static_cast<double>(row.n),
                       1e3 * row.seconds, 1e3 * row.cpu_seconds, 1e3 * row.gpu_seconds, row.gain, row.error);
    out += "\ngain: time of the GPU alone over that of both. Exchanging results is not counted.\n";
    return out;
}

std::string to_json(const BenchSplitReport& report) {
    using nlohmann::ordered_json;
    ordered_json json{{"benchmark", "split"},         {"cpu", report.cpu},
                      {"threads", report.threads},    {"device", report.device},
                      {"repeats", report.repeats},    {"clock", "wall"},
                      {"softening", bench_softening}, {"model", "plummer"}};
    auto& rows = json["rows"] = ordered_json::array();
    for (const auto& row : report.rows)
        rows.push_back({{"precision", name_of(row.precision)},
                        {"n", row.n},
                        {"cpu_targets", row.cpu_targets},
                        {"seconds", row.seconds},
                        {"cpu_seconds", row.cpu_seconds},
                        {"gpu_seconds", row.gpu_seconds},
                        {"gain", row.gain},
                        {"error", row.error}});
    return json.dump(2) + "\n";
}

void write_json(const BenchSplitReport& report, const std::filesystem::path& path) {
    write_file_atomically(path, to_json(report));
}

} // namespace farfield
