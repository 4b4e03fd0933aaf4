// farfield reproduce handbook-multi-gpu: both designs and every exchange, by the plans that users call.
#include "backend/cuda/devices.h"
#include "studies/bench_points.h"
#include "studies/reproduce.h"
#include "studies/study_device.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace farfield {
namespace {

/// One way to divide a sum, and its median times over the sizes.
struct Way {
    int gpus = 1;
    MultiGpu design = MultiGpu::threads;
    Exchange exchange = Exchange::automatic;

    [[nodiscard]] std::string name() const {
        if (gpus == 1) return "here, 1 GPU";
        return fmt::format("here, {} GPUs, {}, {}", gpus,
                           design == MultiGpu::threads ? "a thread each" : "one thread", name_of(exchange));
    }
};

std::vector<Way> ways_for(int found) {
    std::vector<Way> ways;
    if (found > 0) ways.push_back({});
    for (int gpus = 2; gpus <= found; gpus *= 2)
        for (const auto design : {MultiGpu::threads, MultiGpu::single})
            for (const auto exchange :
                 {Exchange::host, Exchange::mapped, Exchange::write_combined, Exchange::peer})
                ways.push_back({gpus, design, exchange});
    return ways;
}

/// The plans of one size; their bits have to be those of one GPU.
class OneSize {
public:
    OneSize(std::int64_t n, const ReproduceOptions& options)
        : options_(options), points_(make_bench_points(n)),
          truth_(points_, static_cast<std::size_t>(n), true, bench_softening, 64) {}

    StudyValue milliseconds(const Way& way) {
        SumOptions sum_options{.softening = bench_softening, .precision = Precision::float32};
        sum_options.device.kind = DeviceKind::cuda;
        for (int k = 0; k < way.gpus; ++k) sum_options.device.gpus.push_back(k);
        sum_options.multi_gpu = way.design;
        sum_options.exchange = way.exchange;
        std::vector<double> field(points_.xyz.size()), seconds;
        try {
            SumPlan plan(matrix_view(std::span<const double>(points_.xyz), 3), sum_options);
            for (int run = 0; run <= options_.repeats; ++run) { // the first warms up
                plan.execute(std::span<const double>(points_.mass),
                             {.potential = {}, .field = matrix_view(std::span<double>(field), 3)});
                if (run > 0) seconds.push_back(plan.report().compute_seconds);
            }
        } catch (const BackendUnavailable&) { // peer copies where the GPUs do not reach each other
            return StudyValue::none("no peers");
        }
        if (bits_.empty()) bits_ = field;
        if (field != bits_) throw InternalError(fmt::format("{}: other bits than on one GPU", way.name()));
        return StudyValue::of(1e3 * median(seconds), truth_.error(field));
    }

private:
    const ReproduceOptions& options_;
    BenchPoints points_;
    SampledTruth truth_;
    std::vector<double> bits_;
};

StudyTable speed_ups(const StudyTable& times) {
    StudyTable table{"Times as fast as one GPU", times.columns, {}};
    for (std::size_t r = 1; r < times.rows.size(); ++r) {
        StudyRow row{times.rows[r].what, {}, {}};
        for (std::size_t k = 0; k < times.columns.size(); ++k) {
            const auto &one = times.rows.front().values[k], &many = times.rows[r].values[k];
            row.values.push_back(many.value ? StudyValue::of(*one.value / *many.value) : many);
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace

Study reproduce_handbook_multi_gpu(const ReproduceOptions& options) {
    const auto device = study_device(options.device);
    auto study =
        begin_study("handbook-multi-gpu", "The CUDA Handbook's N-body on several GPUs", options, device);
    const int found = device.gpu ? static_cast<int>(cuda::devices().size()) : 0;
    const auto ways = ways_for(found);
    StudyTable times{"A step's sum of N bodies with its exchange, milliseconds, float", {}, {}};
    for (const auto& way : ways) times.rows.push_back({way.name(), {}, {}});
    if (ways.empty()) times.rows.push_back({"here, 1 GPU", {}, {}});
    for (const std::int64_t size : {16384, 65536, 262144, 1048576}) {
        const auto n = std::min<std::int64_t>(size, options.most_points);
        times.columns.push_back(fmt::format("N={}", n));
        if (ways.empty()) {
            times.rows.front().values.push_back(StudyValue::none(device.missing));
        } else {
            if (options.progress) options.progress(fmt::format("N = {}", n));
            OneSize one_size(n, options);
            for (std::size_t k = 0; k < ways.size(); ++k)
                times.rows[k].values.push_back(one_size.milliseconds(ways[k]));
        }
        if (n < size) break; // larger ones would be the same
    }
    study.tables.push_back(times);
    if (ways.size() > 1)
        study.tables.push_back(speed_ups(times));
    else if (found == 1)
        study.notes.emplace_back("This machine has one GPU: there is nothing to divide.");
    study.notes.emplace_back(
        "The Handbook (N-Body Update: Multi-GPU) has no figures: it finds a CPU thread for each GPU "
        "and one thread for all equally fast on this workload.");
    study.notes.emplace_back(
        "Times are of the slowest GPU, by its events around sum and exchange; all ways give the "
        "bits of one GPU, or the study ends with an error.");
    return study;
}

} // namespace farfield
