// Measurements for `farfield reproduce ladder`, and its tables about whole steps and about the machine.
#include "studies/ladder_study.h"

#include "backend/cuda/devices.h"
#include "sums/direct/cuda/rung_resources.h"

#include <algorithm>
#include <array>

namespace farfield {
namespace {

using cuda::Rung;

StudyValue whole_number(int value) { return StudyValue::of(static_cast<double>(value)); }

} // namespace

Ladder::Ladder(StudyTimer& timer, const StudyDevice& device, std::int64_t most_points)
    : timer_(timer), device_(device), most_points_(most_points) {
    if (!device.gpu) return;
    const auto info = cuda::devices().at(static_cast<std::size_t>(*device.gpu));
    ceilings_ = cuda::measure_ceilings();
    lanes_ = lanes_of(info.major, info.minor, info.multiprocessors, ceilings_.most_clock_hz);
}

std::int64_t Ladder::cut(std::int64_t n) const { return std::min(n, most_points_); }

std::int64_t Ladder::cut(std::int64_t n, Rung rung) const {
    if (rung == Rung::one_thread) return std::min<std::int64_t>(cut(n), 4096);            // seconds
    if (!cuda::info_of(rung).deterministic) return std::min<std::int64_t>(cut(n), 65536); // atomics: a second
    return cut(n);
}

Timed Ladder::gpu(std::int64_t n, Rung rung, Precision precision) {
    return timer_.gpu(cut(n, rung), rung, precision);
}
StepTime Ladder::steps(std::int64_t n, Rung rung, int count) {
    return timer_.gpu_steps(cut(n, rung), rung, count);
}
Timed Ladder::cpu(std::int64_t n, Variant variant) { return timer_.cpu(cut(n), variant, Isa::automatic, 1); }

StudyValue Ladder::simulation(std::int64_t n, int steps, bool on_gpu) {
    if (on_gpu && !has_gpu()) return missing();
    return StudyValue::of(timer_.simulation(cut(n), steps, on_gpu));
}

StudyTable whole_steps_table(Ladder& ladder) {
    constexpr std::array<std::int64_t, 2> sizes{100000, 300000};
    StudyTable table{
        "A whole leapfrog step by rung, float: milliseconds, and the share of the sum in it, %", {}, {}};
    for (const auto n : sizes) {
        table.columns.push_back(fmt::format("ms, N={}", ladder.cut(n)));
        table.columns.emplace_back("sum, %");
    }
    const auto share = StudyValue::given(100.0 * seeds::force_share);
    const auto nothing = StudyValue::none("");
    table.rows.push_back(
        {"the slides: more than", "Slides, C to CUDA Conversion", {nothing, share, nothing, share}});
    for (const auto& info : cuda::rungs()) {
        const bool is_cut = ladder.cut(sizes[0], info.rung) < ladder.cut(sizes[0]);
        StudyRow row{is_cut ? fmt::format("{}, N={}", info.name, ladder.cut(sizes[0], info.rung))
                            : std::string(info.name),
                     {},
                     {}};
        for (const auto n : sizes) {
            if (!ladder.has_gpu()) {
                row.values.insert(row.values.end(), 2, ladder.missing());
                continue;
            }
            const auto step = ladder.steps(n, info.rung);
            row.values.push_back(StudyValue::of(1e3 * step.seconds));
            row.values.push_back(StudyValue::of(100.0 * step.sum_share.value()));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

StudyTable resources_table(const Ladder& ladder) {
    StudyTable table{"What a rung takes of a multiprocessor: the field with softening, float",
                     {"registers", "shared bytes", "local bytes", "threads a block", "blocks", "by threads",
                      "by slots", "by registers", "by shared", "occupancy, %"},
                     {}};
    if (ladder.has_gpu()) {
        const auto limits = cuda::multiprocessor_limits();
        table.title += fmt::format(" (a multiprocessor has {} threads, {} registers, {} bytes)",
                                   limits.threads, limits.registers, limits.shared_bytes);
        for (const auto& info : cuda::rungs()) {
            const auto kernel = cuda::rung_resources(info.rung, Precision::float32);
            const auto fit = cuda::blocks_that_fit(kernel, limits);
            StudyRow row{fmt::format("{}, bound by {}", info.name, fit.limit()), {}, {}};
            for (const int value :
                 {kernel.registers, kernel.shared_bytes, kernel.local_bytes, kernel.threads, kernel.blocks})
                row.values.push_back(whole_number(value));
            for (const int value : {fit.by_threads, fit.by_blocks, fit.by_registers, fit.by_shared})
                row.values.push_back(StudyValue::given(value)); // by the formula
            row.values.push_back(StudyValue::of(100.0 * cuda::occupancy(kernel, limits)));
            table.rows.push_back(std::move(row));
        }
        return table;
    }
    for (const auto& info : cuda::rungs())
        table.rows.push_back(
            {std::string(info.name), {}, std::vector<StudyValue>(table.columns.size(), ladder.missing())});
    return table;
}

StudyTable link_table(const Ladder& ladder) {
    constexpr auto slide = "Slides, Hybrid Execution";
    const auto given = [](double rate) { return StudyValue::given(rate); };
    StudyTable table{"The link to the host beside the memory of the GPU, GB/s",
                     {"host to GPU", "GPU to host", "memory of the GPU"},
                     {}};
    table.rows.push_back(
        {"the slides: at least",
         slide,
         {given(seeds::slowest_link), given(seeds::slowest_link), given(seeds::card_memory)}});
    table.rows.push_back(
        {"the slides: at most",
         slide,
         {given(seeds::fastest_link), given(seeds::fastest_link), given(seeds::card_memory)}});
    StudyRow here{"here: pinned memory; a copy, read and written", {}, {}};
    const auto& ceilings = ladder.ceilings();
    for (const double bytes : {ceilings.to_gpu_bytes, ceilings.to_host_bytes, ceilings.copy_bytes})
        here.values.push_back(ladder.has_gpu() ? StudyValue::of(1e-9 * bytes) : ladder.missing());
    table.rows.push_back(std::move(here));
    return table;
}

} // namespace farfield
