// farfield reproduce handbook-timings.
#include "studies/ladder_model.h"
#include "studies/reproduce.h"
#include "studies/seed_tables.h"
#include "studies/study_device.h"
#include "studies/study_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using cuda::Rung;

constexpr auto table_source = "Handbook, N-Body: Multithreaded SSE";
constexpr auto kernels_source = "Handbook, N-Body: FP Atomics v. Recomputation";

StudyValue milliseconds(const Timed& timed) { return StudyValue::of(1e3 * timed.seconds, timed.error); }

/// The table that grows line by line; `sizes` are those that are measured here.
class HandbookTimes {
public:
    HandbookTimes(StudyTimer& timer, const StudyDevice& device, const ReproduceOptions& options)
        : timer_(timer), device_(device) {
        table_.title = "One sum of N bodies, milliseconds, float";
        for (const auto& row : seeds::handbook_timings()) {
            sizes_.push_back(std::min(row.n, options.most_points));
            table_.columns.push_back(sizes_.back() == row.n
                                         ? fmt::format("N={}", row.n)
                                         : fmt::format("N={}, here {}", row.n, sizes_.back()));
        }
    }

    void theirs(const std::string& what, double seeds::HandbookTiming::*member) {
        StudyRow row{what, table_source, {}};
        for (const auto& timing : seeds::handbook_timings())
            row.values.push_back(StudyValue::given(timing.*member));
        table_.rows.push_back(std::move(row));
    }
    void on_cpu(const std::string& what, Variant variant, Isa isa, int threads) {
        StudyRow row{what, {}, {}};
        for (const auto n : sizes_)
            row.values.push_back(is_available(isa) ? milliseconds(timer_.cpu(n, variant, isa, threads))
                                                   : StudyValue::none("no " + std::string(name_of(isa))));
        table_.rows.push_back(std::move(row));
    }
    void on_gpu(const std::string& what, Rung rung) {
        StudyRow row{what, {}, {}};
        for (const auto n : sizes_)
            row.values.push_back(timer_.has_gpu() ? milliseconds(timer_.gpu(n, rung))
                                                  : StudyValue::none(device_.missing));
        table_.rows.push_back(std::move(row));
    }

    StudyTable finished() { return std::move(table_); }

private:
    StudyTimer& timer_;
    const StudyDevice& device_;
    std::vector<std::int64_t> sizes_;
    StudyTable table_;
};

StudyTable timings(StudyTimer& timer, const StudyDevice& device, const ReproduceOptions& options) {
    const int all = timer.threads();
    const auto best = best_isa();
    HandbookTimes table(timer, device, options);
    table.theirs("cg1: Xeon 5570, SSE, 1 thread", &seeds::HandbookTiming::cg1_sse);
    table.theirs("cc2: Xeon 2670, SSE, 1 thread", &seeds::HandbookTiming::cc2_sse);
    table.on_cpu("here, SSE4.2, 1 thread", Variant::simd, Isa::sse42, 1);
    table.on_cpu("here, AVX2, 1 thread", Variant::simd, Isa::avx2, 1);
    table.on_cpu(fmt::format("here, {}, each pair once, 1 thread", name_of(best)), Variant::automatic, best,
                 1);
    table.theirs("cg1: SSE, 8 threads", &seeds::HandbookTiming::cg1_threads);
    table.theirs("cc2: SSE, 16 threads", &seeds::HandbookTiming::cc2_threads);
    table.on_cpu(fmt::format("here, SSE4.2, {} threads", all), Variant::simd, Isa::sse42, all);
    table.on_cpu(fmt::format("here, AVX2, {} threads", all), Variant::simd, Isa::avx2, all);
    table.on_cpu(fmt::format("here, {}, each pair once, {} threads", name_of(best), all), Variant::automatic,
                 best, all);
    table.theirs("cg1: Tesla M2050, shared", &seeds::HandbookTiming::cg1_gpu);
    table.theirs("GeForce GTX 680 (GK104), shared", &seeds::HandbookTiming::gk104);
    table.on_gpu("here, GPU, float4 (the Handbook's naive)", Rung::float4);
    table.on_gpu("here, GPU, atomics-pointer (its atomics)", Rung::atomics_pointer);
    table.on_gpu("here, GPU, shared", Rung::shared);
    table.on_gpu("here, GPU, symmetric", Rung::symmetric);
    return table.finished();
}

// The Handbook gives these ratios in its text, as ranges; here they follow from its times.
StudyTable scaling(StudyTimer& timer, const ReproduceOptions& options) {
    StudyTable table{"All threads over one: how many times as fast", {}, {}};
    StudyRow cg1{"cg1: SSE, 8 threads", table_source, {}}, cc2{"cc2: SSE, 16 threads", table_source, {}};
    std::vector<StudyRow> ours;
    const int all = timer.threads();
    const auto best = best_isa();
    const std::vector<std::pair<Variant, Isa>> kinds{
        {Variant::simd, Isa::sse42}, {Variant::simd, Isa::avx2}, {Variant::automatic, best}};
    ours.reserve(kinds.size());
    for (const auto& [variant, isa] : kinds)
        ours.push_back({fmt::format("here, {}{}, {} threads", name_of(isa),
                                    variant == Variant::simd ? "" : ", each pair once", all),
                        {},
                        {}});
    for (const auto& row : seeds::handbook_timings()) {
        const auto n = std::min(row.n, options.most_points);
        table.columns.push_back(fmt::format("N={}", n));
        cg1.values.push_back(StudyValue::given(row.cg1_sse / row.cg1_threads));
        cc2.values.push_back(StudyValue::given(row.cc2_sse / row.cc2_threads));
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            const auto [variant, isa] = kinds[k];
            if (!is_available(isa)) {
                ours[k].values.push_back(StudyValue::none("no " + std::string(name_of(isa))));
                continue;
            }
            const auto one = timer.cpu(n, variant, isa, 1), many = timer.cpu(n, variant, isa, all);
            ours[k].values.push_back(StudyValue::of(one.seconds / many.seconds, many.error));
        }
    }
    table.rows = {std::move(cg1), std::move(cc2)};
    std::move(ours.begin(), ours.end(), std::back_inserter(table.rows));
    return table;
}

StudyTable kernels(StudyTimer& timer, const StudyDevice& device, const ReproduceOptions& options) {
    const auto n = std::min(seeds::handbook_kernels_n, options.most_points);
    StudyTable table{fmt::format("Atomics against recomputing, N={}, milliseconds, float", n), {}, {}};
    StudyRow theirs{"GeForce GTX 680 (GK104)", kernels_source, {}}, ours{"here, GPU", {}, {}};
    const auto measured = [&](Rung rung) {
        return timer.has_gpu() ? milliseconds(timer.gpu(n, rung)) : StudyValue::none(device.missing);
    };
    for (const auto& kernel : seeds::handbook_kernels()) {
        table.columns.push_back(fmt::format("{} (here {})", kernel.name, cuda::info_of(kernel.ours).name));
        theirs.values.push_back(StudyValue::given(kernel.milliseconds));
        ours.values.push_back(measured(kernel.ours));
    }
    for (const auto rung :
         {Rung::atomics_index, Rung::naive, Rung::atomics, Rung::atomics_tiled, Rung::symmetric}) {
        table.columns.push_back(fmt::format("here {}", cuda::info_of(rung).name));
        theirs.values.push_back(StudyValue::none(""));
        ours.values.push_back(measured(rung));
    }
    table.rows = {std::move(theirs), std::move(ours)};
    return table;
}

} // namespace

Study reproduce_handbook_timings(const ReproduceOptions& options) {
    const auto device = study_device(options.device);
    auto study =
        begin_study("handbook-timings", "The N-body timings of the CUDA Handbook (2012) and this machine's",
                    options, device);
    StudyTimer timer(options.repeats, device.gpu, options.threads, options.progress);
    study.tables.push_back(timings(timer, device, options));
    study.tables.push_back(scaling(timer, options));
    study.tables.push_back(kernels(timer, device, options));
    if (!device.gpu)
        study.lacking +=
            "\nThe Handbook's kernels (float4, atomics-pointer, atomics-index, shared) need one, so the rows "
            "and the table of\nthe GPU stay empty; what is measured here are the CPU's rows.";
    study.notes.emplace_back("float4, atomics-pointer and atomics-index are the Handbook's kernels: bodies "
                             "of 16 bytes read at once, rsqrtf, no "
                             "self test, sums of three floats. atomics-pointer takes the address of a "
                             "partner's sums once, as the Handbook "
                             "does; atomics-index writes an index for each, which its compiler made slower "
                             "code of. The Handbook gives the "
                             "partner -a, which is right for equal masses; here the body's own mass counts, "
                             "three products more a pair.");
    study.notes.emplace_back("Times here are of the sum alone: bodies are on the CPU or GPU that sums them.");
    study.notes.emplace_back(
        "The Handbook has 1.60 ms and 55 ms for shared on GK104 at N=8192, in two articles; "
        "what the second one repeats is not said. Compare within a table.");
    return study;
}

} // namespace farfield
