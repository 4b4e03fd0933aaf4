#include "studies/bench_direct_cuda.h"

#include "backend/cuda/devices.h"
#include "base/machine.h"
#include "studies/bench_points.h"
#include "sums/direct/cuda/device_sum.h"

#include <farfield/error.h>

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace farfield {
namespace {

using cuda::Rung;

double cpu_rate(Precision precision, std::int64_t n) {
    const auto points = make_bench_points(n);
    SumPlan plan(matrix_view(std::span<const double>(points.xyz), 3), {.softening = bench_softening,
                                                                       .precision = precision,
                                                                       .threads = 1,
                                                                       .device = {.kind = DeviceKind::cpu}});
    std::vector<double> field(points.xyz.size());
    std::vector<double> seconds;
    for (int run = -1; run < 15; ++run) { // machines with GPUs are often shared
        plan.execute(std::span<const double>(points.mass),
                     {.field = matrix_view(std::span<double>(field), 3)});
        if (run >= 0) seconds.push_back(plan.report().compute_seconds);
    }
    return static_cast<double>(plan.report().direct.pairs) / median(seconds);
}

BenchCudaRow measure(const BenchPoints& points, const SampledTruth& truth, Rung rung, Precision precision,
                     const BenchCudaOptions& options) {
    cuda::DeviceSum sum({.device = options.device,
                         .rung = rung,
                         .precision = precision,
                         .softening = bench_softening,
                         .potential = false,
                         .field = true});
    sum.set_points(points.xyz, points.mass);
    sum.run(); // warms up
    std::vector<double> seconds;
    seconds.reserve(static_cast<std::size_t>(options.repeats));
    for (int run = 0; run < options.repeats; ++run) seconds.push_back(1e-3 * sum.run());
    std::vector<double> field(points.xyz.size());
    sum.fetch({}, field);
    const auto [fastest, slowest] = std::minmax_element(seconds.begin(), seconds.end());
    return {.rung = rung,
            .precision = precision,
            .n = static_cast<std::int64_t>(points.mass.size()),
            .seconds = median(seconds),
            .fastest_seconds = *fastest,
            .slowest_seconds = *slowest,
            .error = truth.error(field)};
}

/// The rungs of one size, or those that are to be measured at fewer points than any size asked for.
class BenchedLadder {
public:
    BenchedLadder(const BenchCudaOptions& options, std::vector<BenchCudaRow>& rows)
        : options_(options), rows_(rows) {}

    void add(Rung rung, Precision precision, std::int64_t n) {
        for (const auto& row : rows_)
            if (row.rung == rung && row.precision == precision && row.n == n) return;
        if (options_.progress)
            options_.progress(fmt::format("{}, {}, N = {}", cuda::info_of(rung).name, name_of(precision), n));
        const auto& points = points_of(n);
        rows_.push_back(
            measure(points, truth_of(points, precision == Precision::float32), rung, precision, options_));
    }

private:
    const BenchPoints& points_of(std::int64_t n) {
        auto place = points_.find(n);
        if (place == points_.end()) place = points_.emplace(n, make_bench_points(n)).first;
        return place->second;
    }
    const SampledTruth& truth_of(const BenchPoints& points, bool rounded) {
        const std::pair key(points.mass.size(), rounded);
        auto place = truths_.find(key);
        if (place == truths_.end())
            place = truths_
                        .emplace(key, SampledTruth(points, points.mass.size(), rounded, bench_softening,
                                                   points.mass.size() > 500000 ? 64 : 100))
                        .first;
        return place->second;
    }

    const BenchCudaOptions& options_;
    std::vector<BenchCudaRow>& rows_;
    std::map<std::int64_t, BenchPoints> points_;
    std::map<std::pair<std::size_t, bool>, SampledTruth> truths_;
};

// At the same n, or else at the largest that was measured.
const BenchCudaRow* find(const BenchCudaReport& report, Rung rung, Precision precision, std::int64_t n) {
    const BenchCudaRow* found = nullptr;
    for (const auto& row : report.rows) {
        if (row.rung != rung || row.precision != precision) continue;
        if (row.n == n) return &row;
        if (found == nullptr || row.n > found->n) found = &row;
    }
    return found;
}

void set_shares(const BenchCudaReport& report, BenchCudaRow& row) {
    std::optional<double> cycles;
    if (row.loop) {
        const int count = directions(row.rung);
        cycles = cycles_a_pair(*row.loop, count, report.lanes.double_cost);
        row.instructions_a_pair = static_cast<double>(row.loop->instructions) / (row.loop->roots * count);
    }
    const auto most = peaks(report.lanes, row.precision, cycles);
    row.flops = flop_a_pair * row.pairs_per_second;
    row.share_of_peak = row.flops / most.peak;
    row.share_of_realistic = row.flops / most.realistic;
    if (most.actual) row.share_of_actual = row.flops / *most.actual;
}

} // namespace

std::int64_t capped_size(Rung rung, std::int64_t n) {
    switch (rung) {
    case Rung::one_thread:
        return std::min<std::int64_t>(n, 4096); // seconds
    case Rung::flush:
    case Rung::register_tile:
    case Rung::symmetric:
    case Rung::tensor:
        return n;
    default:
        return std::min<std::int64_t>(n, 65536);
    }
}

void complete(BenchCudaReport& report, const LoopCounts& loops) {
    for (auto& row : report.rows) {
        const double n = static_cast<double>(row.n);
        row.pairs_per_second = n * (n - 1.0) / row.seconds;
        row.bytes_per_second = bytes_moved(row.rung, row.precision, row.n) / row.seconds;
        row.loop = pair_loop(loops, row.rung, row.precision);
        set_shares(report, row);
    }
    for (auto& row : report.rows) {
        // mixed arithmetic is float arithmetic; only two rungs have it
        const auto type = row.precision == Precision::mixed ? Precision::float32 : row.precision;
        if (const auto* first = find(report, Rung::one_thread, type, row.n))
            row.over_one_thread = row.pairs_per_second / first->pairs_per_second;
        if (const auto before = predecessor(row.rung))
            if (const auto* other = find(report, *before, row.precision, row.n))
                row.over_predecessor = row.pairs_per_second / other->pairs_per_second;
        const double cpu = type == Precision::float64 ? report.cpu_double_pairs : report.cpu_float_pairs;
        if (cpu > 0.0) row.over_cpu_thread = row.pairs_per_second / cpu;
    }
}

BenchCudaReport bench_direct_cuda(const BenchCudaOptions& options) {
    if (options.repeats < 1)
        throw InvalidArgument(fmt::format("repeats is {}; it must be ≥ 1", options.repeats));
    cuda::use_device(options.device);
    const auto device = cuda::devices().at(static_cast<std::size_t>(options.device));
    BenchCudaReport report;
    report.device = device.name;
    report.multiprocessors = device.multiprocessors;
    report.cpu = this_machine().cpu;
    report.repeats = options.repeats;
    report.cpu_n = 16384;
    report.cpu_float_pairs = cpu_rate(Precision::float32, report.cpu_n);
    report.cpu_double_pairs = cpu_rate(Precision::float64, report.cpu_n);
    report.ceilings = cuda::measure_ceilings();
    report.lanes =
        lanes_of(device.major, device.minor, device.multiprocessors, report.ceilings.most_clock_hz);
    BenchedLadder ladder(options, report.rows);
    for (const auto n : options.sizes) {
        if (n < 2) throw InvalidArgument(fmt::format("n is {}; it must be ≥ 2", n));
        for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed})
            for (const auto& info : cuda::rungs())
                if ((precision != Precision::mixed || info.mixed) &&
                    (precision == Precision::float32 || !info.float_field))
                    ladder.add(info.rung, precision, capped_size(info.rung, n));
    }
    report.limits = cuda::multiprocessor_limits();
    for (auto& row : report.rows) row.resources = cuda::rung_resources(row.rung, row.precision);
    complete(report, library_pair_loops());
    return report;
}

} // namespace farfield
