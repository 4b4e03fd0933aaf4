#include "studies/m2l_2d/measurements.h"
#include "studies/m2l_2d/operation_counts.h"
#include "studies/m2l_2d/seed_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace farfield::m2l2d {
namespace {

// What stands in the tables of the paper's sizes: its last kernel, and ours.
const std::vector<Kernel>& table_kernels() {
    static const std::vector<Kernel> kernels{{Variant::overlapped, false},
                                             {Variant::shared_operator, false},
                                             {Variant::rotations, false},
                                             {Variant::rotations, true},
                                             {Variant::staged, true}};
    return kernels;
}

std::size_t terms_index(int terms) {
    return static_cast<std::size_t>(std::find(terms_measured.begin(), terms_measured.end(), terms) -
                                    terms_measured.begin());
}

std::string paper_place(std::string_view place) {
    return fmt::format("How to obtain efficient GPU kernels, {}", place);
}

StudyValue given_or_none(double value) {
    return value > 0 ? StudyValue::given(value) : StudyValue::none("-");
}

StudyRow seed_row(const seeds::Card& card, int terms, std::size_t size) {
    const auto& row = card.rows[terms_index(terms)][size];
    StudyRow out{fmt::format("{}, {}", seeds::translations[size], card.name), paper_place(card.table), {}};
    for (const double value :
         {1e6 * row.kernel_seconds, 1e6 * row.reduction_seconds, 1e6 * row.to_gpu_seconds,
          1e6 * row.to_host_seconds, row.gops, row.gigabytes, row.millions})
        out.values.push_back(StudyValue::given(value));
    return out;
}

StudyRow measured_row(Measurements& measured, const Kernel& kernel, int terms, int depth) {
    const auto translations = static_cast<double>(translations_of_depth(depth));
    StudyRow out{fmt::format("{}, {}", translations_of_depth(depth), name_of(kernel)), {}, {}};
    const auto time = measured.time(kernel, terms, depth);
    const auto transfers = measured.transfers(terms, depth);
    const double rate = translations / time.kernel_seconds;
    out.values = {StudyValue::of(1e6 * time.kernel_seconds, time.error),
                  kernel.is_fused ? StudyValue::none("-") : StudyValue::of(1e6 * time.reduction_seconds),
                  StudyValue::of(1e6 * transfers.to_gpu_seconds),
                  StudyValue::of(1e6 * transfers.to_host_seconds),
                  StudyValue::of(1e-9 * seeds::operations(terms) * rate),
                  kernel.is_fused ? StudyValue::none("-")
                                  : StudyValue::of(seeds::bytes(terms) * rate / (1 << 30)),
                  StudyValue::of(1e-6 * rate)};
    return out;
}

double threads_of(const cuda::RungResources& kernel) { return kernel.threads; }

// Translations a second at most.
struct Ceiling {
    double arithmetic = 0, memory = 0, shared = 0;
    [[nodiscard]] double all() const { return std::min({arithmetic, memory, shared}); }
};
Ceiling ceiling_of(const Kernel& kernel, int terms, double fma, double memory, double shared) {
    constexpr double none = std::numeric_limits<double>::infinity();
    const auto count = operations_of(kernel.variant, kernel.is_fused, terms);
    const double of_shared = shared_bytes(kernel.variant, terms);
    return {count.instructions > 0 ? fma / count.instructions : none,
            memory > 0 ? memory / memory_bytes(kernel.is_fused, terms) : none,
            of_shared > 0 ? shared / of_shared : none};
}

StudyRow variant_row(Measurements& measured, const Kernel& kernel, int terms) {
    const auto count = operations_of(kernel.variant, kernel.is_fused, terms);
    const double bytes = memory_bytes(kernel.is_fused, terms);
    const auto& info = info_of(kernel.variant);
    StudyRow row{name_of(kernel), info.source.empty() ? std::string() : paper_place(info.source), {}};
    if (!measured.has_gpu()) {
        row.values = {measured.missing(),
                      measured.missing(),
                      StudyValue::given(count.flop),
                      StudyValue::given(count.flop / bytes),
                      measured.missing(),
                      measured.missing(),
                      measured.missing(),
                      measured.missing(),
                      measured.missing()};
        row.values.push_back(measured.missing());
        return row;
    }
    const int depth = measured.deepest();
    const auto time = measured.time(kernel, terms, depth);
    const double rate = static_cast<double>(translations_of_depth(depth)) / time.kernel_seconds;
    // doubles in the stored matrix go through their own pipe
    const bool in_double = kernel.variant == Variant::stored_double;
    const double slower = in_double ? measured.rated_double_fma() / measured.rated_fma() : 1.0;
    const double predicted = ceiling_of(kernel, terms, slower * measured.rated_fma(), measured.rated_memory(),
                                        measured.shared_memory_rate())
                                 .all(),
                 reached = ceiling_of(kernel, terms, slower * measured.fma_rate(), measured.fill_rate(terms),
                                      measured.shared_memory_rate())
                               .all();
    const auto mix = measured.mix(kernel, terms);
    const bool counted = mix && mix->flop > 0 && kernel.variant != Variant::tensor;
    row.values = {
        StudyValue::of(1e6 * time.kernel_seconds, time.error),
        StudyValue::of(1e-9 * rate),
        StudyValue::given(count.flop),
        StudyValue::given(count.flop / bytes),
        counted ? StudyValue::of(static_cast<double>(mix->integers) / mix->flop) : StudyValue::none("-"),
        kernel.variant == Variant::tensor ? StudyValue::none("-") : StudyValue::given(1e-9 * predicted),
        kernel.variant == Variant::tensor ? StudyValue::none("-") : StudyValue::of(1e-9 * reached),
        kernel.variant == Variant::tensor ? StudyValue::none("-") : StudyValue::of(100 * rate / reached),
        StudyValue::of(1e-9 * seeds::operations(terms) * rate),
        StudyValue::of(100 * count.flop * rate / (2 * measured.rated_fma()))};
    return row;
}

StudyRow card_row(const std::string& what, const std::string& source, double gops, double millions,
                  double peak) {
    return {what,
            source,
            {StudyValue::none("-"), StudyValue::given(1e-3 * millions), StudyValue::none("-"),
             StudyValue::none("-"), StudyValue::none("-"), StudyValue::none("-"), StudyValue::none("-"),
             StudyValue::none("-"), StudyValue::given(gops), given_or_none(100 * gops / peak)}};
}

} // namespace

StudyTable seed_table(Measurements& measured, int terms) {
    StudyTable table{
        fmt::format("Tables 2 and 3, p = {}: by translations and kernel", terms),
        {"M2L, µs", "reduction, µs", "to GPU, µs", "to host, µs", "1e9 op/s", "2³⁰ B/s", "1e6/s"},
        {}};
    for (std::size_t size = 0; size < seeds::translations.size(); ++size) {
        for (const auto& card : seeds::cards) table.rows.push_back(seed_row(card, terms, size));
        const int depth = 3 + static_cast<int>(size);
        if (!measured.has_gpu() || depth > measured.deepest()) continue;
        for (const auto& kernel : table_kernels())
            table.rows.push_back(measured_row(measured, kernel, terms, depth));
    }
    if (!measured.has_gpu())
        table.rows.push_back({"here", {}, std::vector<StudyValue>(table.columns.size(), measured.missing())});
    return table;
}

StudyTable resources_table(Measurements& measured, int terms) {
    StudyTable table{fmt::format("What a kernel takes of a multiprocessor, p = {}", terms),
                     {"registers", "shared bytes", "local bytes", "threads a block", "blocks", "by threads",
                      "by slots", "by registers", "by shared", "occupancy, %"},
                     {}};
    if (terms == 12)
        table.rows.push_back({"Tesla C1060, stored matrix: by its 16 KB of shared memory",
                              paper_place("4.1.1"),
                              std::vector<StudyValue>(table.columns.size(), StudyValue::none("-"))});
    if (terms == 12) table.rows.back().values[8] = StudyValue::given(seeds::stored_matrices);
    if (!measured.has_gpu()) {
        table.rows.push_back({"here", {}, std::vector<StudyValue>(table.columns.size(), measured.missing())});
        return table;
    }
    const auto limits = cuda::multiprocessor_limits();
    table.title += fmt::format(" (it has {} threads, {} registers, {} bytes)", limits.threads,
                               limits.registers, limits.shared_bytes);
    for (const auto& kernel : all_kernels()) {
        const auto takes = measured.resources(kernel, terms);
        const auto fit = cuda::blocks_that_fit(takes, limits);
        StudyRow row{fmt::format("{}: by {}", name_of(kernel), fit.limit()), {}, {}};
        for (const int value : {takes.registers, takes.shared_bytes, takes.local_bytes})
            row.values.push_back(StudyValue::of(value));
        row.values.push_back(StudyValue::given(threads_of(takes)));
        row.values.push_back(StudyValue::of(takes.blocks));
        for (const int value : {fit.by_threads, fit.by_blocks, fit.by_registers, fit.by_shared})
            row.values.push_back(StudyValue::given(std::min(value, 9999))); // by the formula
        // the paper's threads are those at work: of a warp of 27, 27
        row.values.push_back(StudyValue::of(100.0 * takes.blocks * takes.threads / limits.threads));
        table.rows.push_back(std::move(row));
    }
    return table;
}

StudyTable variants_table(Measurements& measured, int terms) {
    StudyTable table{fmt::format("Every kernel at {} translations, p = {}",
                                 translations_of_depth(measured.deepest()), terms),
                     {"M2L, µs", "1e9/s", "flop", "flop/byte", "integers/flop", "predicted, 1e9/s",
                      "ceiling, 1e9/s", "% of it", "1e9 op/s", "% of peak"},
                     {}};
    const auto index = terms_index(terms);
    for (const auto& card : seeds::cards) {
        const auto& row = card.rows[index].back();
        const auto source = paper_place(card.table);
        table.rows.push_back(card_row(fmt::format("{}, overlapped, of {:.0f}", card.name, card.peak_gops),
                                      source, row.gops, row.millions, card.peak_gops));
        if (card.dual_gops > card.peak_gops)
            table.rows.push_back(card_row(fmt::format("{}, overlapped, of {:.0f}", card.name, card.dual_gops),
                                          source, row.gops, row.millions, card.dual_gops));
    }
    if (terms ==
        12) // 20 Gop/s over 2.5 million is between the counts of p = 12 and 16; the text's example is 12
        table.rows.push_back(card_row("Tesla C1060, diagonals, of 622", paper_place("4.1.1"),
                                      seeds::diagonals_gops, seeds::diagonals_millions, 622));
    for (const auto& kernel : all_kernels()) table.rows.push_back(variant_row(measured, kernel, terms));
    return table;
}

} // namespace farfield::m2l2d
