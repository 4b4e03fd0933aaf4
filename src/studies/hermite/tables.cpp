#include "studies/hermite/measurements.h"
#include "studies/hermite/operations.h"
#include "studies/hermite/seed_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace farfield::hermite {
namespace {

// What stands beside the paper's rows: its plain loop with its last kernel, and ours.
struct Pair {
    std::string_view name;
    CpuLoop loop;
    Variant variant;
};
constexpr Pair pairs_measured[] = {{"here, as the paper's", CpuLoop::plain, Variant::balanced},
                                   {"here, ours", CpuLoop::simd, Variant::ours}};

std::size_t terms_index(int terms) {
    return static_cast<std::size_t>(std::find(terms_measured.begin(), terms_measured.end(), terms) -
                                    terms_measured.begin());
}

std::string paper_place(std::string_view place) {
    return fmt::format("How to obtain efficient GPU kernels, {}", place);
}

std::vector<StudyValue> nothing(const StudyTable& table, const StudyValue& value) {
    return std::vector<StudyValue>(table.columns.size(), value);
}

StudyRow seed_row(const seeds::Machine& machine, int terms, std::size_t size) {
    const auto& row = machine.rows[terms_index(terms)][size];
    StudyRow out{fmt::format("{}, {}", seeds::particles[size], machine.name), paper_place(machine.table), {}};
    for (const double value :
         {row.cores[0], row.cores[1], row.cores[2], row.gops, row.gpu, row.over_one(), row.over_four()})
        out.values.push_back(StudyValue::given(value));
    return out;
}

StudyRow measured_row(Measurements& measured, const Pair& pair, int terms, std::int64_t targets) {
    StudyRow row{fmt::format("{}, {}", targets, pair.name), {}, {}};
    std::array<std::optional<MeasuredRate>, seeds::cores.size()> cores;
    for (std::size_t k = 0; k < cores.size(); ++k) {
        cores[k] = measured.cpu(pair.loop, terms, targets, seeds::cores[k]);
        row.values.push_back(cores[k] ? StudyValue::of(cores[k]->per_second, cores[k]->error)
                             : measured.threads() < seeds::cores[k]
                                 ? StudyValue::none(fmt::format("{} only", measured.threads()))
                                 : StudyValue::none("-"));
    }
    if (!measured.has_gpu()) {
        for (int column = 0; column < 4; ++column) row.values.push_back(measured.missing());
        return row;
    }
    const auto& gpu = measured.gpu(pair.variant, terms, targets);
    const double operations = seeds::operations(terms, clusters_evaluated);
    row.values.push_back(StudyValue::of(1e-9 * operations * gpu.per_second));
    row.values.push_back(StudyValue::of(gpu.per_second, gpu.error));
    for (const auto& of : {cores.front(), cores.back()})
        row.values.push_back(of ? StudyValue::of(gpu.per_second / of->per_second) : StudyValue::none("-"));
    return row;
}

StudyRow variant_row(Measurements& measured, const VariantInfo& info, int terms) {
    StudyRow row{std::string(info.name), info.source.empty() ? std::string() : paper_place(info.source), {}};
    const double flop = flop_of(info.variant, terms, clusters_evaluated);
    if (!measured.has_gpu()) {
        row.values.assign(7, measured.missing());
        row.values[2] = StudyValue::given(flop);
        return row;
    }
    const auto targets = measured.sizes().back();
    const auto rate = measured.gpu(info.variant, terms, targets);
    const auto mix = measured.mix(info.variant, terms);
    row.values = {StudyValue::of(1e6 * static_cast<double>(targets) / rate.per_second, rate.error),
                  StudyValue::of(1e-6 * rate.per_second),
                  StudyValue::given(flop),
                  StudyValue::of(1e-9 * flop * rate.per_second),
                  StudyValue::of(50 * flop * rate.per_second / measured.fma_rate()),
                  mix && mix->flop > 0 ? StudyValue::of(static_cast<double>(mix->integers) / mix->flop)
                                       : StudyValue::none("-"),
                  StudyValue::of(1e-9 * seeds::operations(terms, clusters_evaluated) * rate.per_second)};
    return row;
}

StudyRow card_row(const StudyTable& table, const seeds::Machine& machine, int terms) {
    const auto& row = machine.rows[terms_index(terms)].back();
    StudyRow out{fmt::format("{}, {}", machine.name, seeds::particles.back()), paper_place(machine.table),
                 nothing(table, StudyValue::none("-"))};
    out.values[0] = StudyValue::given(1e6 * static_cast<double>(seeds::particles.back()) / row.gpu);
    out.values[1] = StudyValue::given(1e-6 * row.gpu);
    out.values[4] = StudyValue::given(100 * row.gops / machine.peak_gops);
    out.values[6] = StudyValue::given(row.gops);
    return out;
}

// The least and the most of some numbers.
struct Range {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    void add(double value) {
        least = std::min(least, value);
        most = std::max(most, value);
    }
    [[nodiscard]] bool empty() const { return most == 0; }
};

StudyRow ratios_row(std::string what, std::string source, const Range& one, const Range& four,
                    StudyValue (*value)(double)) {
    StudyRow row{std::move(what), std::move(source), {}};
    for (const auto* range : {&one, &four})
        for (const double of : {range->least, range->most})
            row.values.push_back(range->empty() ? StudyValue::none("-") : value(of));
    return row;
}

void add_seed_ratios(StudyTable& table) {
    for (const auto& machine : seeds::machines) {
        for (const int terms : terms_measured) {
            Range one, four;
            for (const auto& row : machine.rows[terms_index(terms)]) {
                one.add(row.over_one());
                four.add(row.over_four());
            }
            table.rows.push_back(ratios_row(fmt::format("{}, p = {}", machine.name, terms),
                                            paper_place(machine.table), one, four, StudyValue::given));
        }
        StudyRow text{fmt::format("{}, by the text", machine.name), paper_place("4.2.7"), {}};
        text.values = {StudyValue::given(seeds::times_one_least), StudyValue::given(seeds::times_one_most),
                       StudyValue::none("-"),
                       StudyValue::given(&machine == &seeds::machines.front() ? seeds::times_four_tesla
                                                                              : seeds::times_four_fermi)};
        table.rows.push_back(std::move(text));
    }
}

} // namespace

StudyTable seed_table(Measurements& measured, int terms) {
    StudyTable table{fmt::format("Tables 4 and 5, p = {}: by particles", terms),
                     {"1 core, 1/s", "2 cores, 1/s", "4 cores, 1/s", "GPU, 1e9 op/s", "GPU, 1/s",
                      "GPU/1 core", "GPU/4 cores"},
                     {}};
    const auto add_measured = [&](std::int64_t targets) {
        for (const auto& pair : pairs_measured)
            table.rows.push_back(measured_row(measured, pair, terms, targets));
    };
    const auto& sizes = measured.sizes();
    if (sizes.front() < seeds::particles.front()) add_measured(sizes.front());
    for (std::size_t size = 0; size < seeds::particles.size(); ++size) {
        for (const auto& machine : seeds::machines) table.rows.push_back(seed_row(machine, terms, size));
        if (std::find(sizes.begin(), sizes.end(), seeds::particles[size]) != sizes.end())
            add_measured(seeds::particles[size]);
    }
    return table;
}

StudyTable variants_table(Measurements& measured, int terms) {
    StudyTable table{fmt::format("Every kernel at {} particles, p = {}", measured.sizes().back(), terms),
                     {"µs", "1e6/s", "flop", "1e9 flop/s", "% of peak", "integers/flop", "1e9 op/s"},
                     {}};
    for (const auto& machine : seeds::machines) table.rows.push_back(card_row(table, machine, terms));
    for (const auto& info : variant_table) table.rows.push_back(variant_row(measured, info, terms));
    return table;
}

StudyTable resources_table(Measurements& measured, int terms) {
    StudyTable table{
        fmt::format("What a kernel takes of a multiprocessor, p = {}", terms),
        {"launches", "registers", "shared bytes", "local bytes", "threads a block", "blocks", "occupancy, %"},
        {}};
    if (!measured.has_gpu()) {
        table.rows.push_back({"here", {}, nothing(table, measured.missing())});
        return table;
    }
    const auto limits = cuda::multiprocessor_limits();
    for (const auto& info : variant_table) {
        const auto takes = measured.resources(info.variant, terms);
        StudyRow row{std::string(info.name), {}, {}};
        row.values.push_back(StudyValue::given(static_cast<double>(
            launches_of(info.variant, terms, measured.sizes().back(), clusters_evaluated))));
        for (const int value : {takes.registers, takes.shared_bytes, takes.local_bytes})
            row.values.push_back(StudyValue::of(value));
        row.values.push_back(StudyValue::given(takes.threads));
        row.values.push_back(StudyValue::of(takes.blocks));
        row.values.push_back(StudyValue::of(100 * cuda::occupancy(takes, limits)));
        table.rows.push_back(std::move(row));
    }
    return table;
}

StudyTable ratios_table(Measurements& measured) {
    StudyTable table{"How many times as fast a GPU is: the paper's tables and its text",
                     {"1 core, least", "1 core, most", "4 cores, least", "4 cores, most"},
                     {}};
    add_seed_ratios(table);
    if (!measured.has_gpu()) {
        table.rows.push_back({"here", {}, nothing(table, measured.missing())});
        return table;
    }
    for (const auto& pair : pairs_measured)
        for (const int terms : terms_measured) {
            Range one, four;
            for (const auto targets : measured.sizes()) {
                const double gpu = measured.gpu(pair.variant, terms, targets).per_second;
                if (const auto cpu = measured.cpu(pair.loop, terms, targets, 1))
                    one.add(gpu / cpu->per_second);
                if (const auto cpu = measured.cpu(pair.loop, terms, targets, 4))
                    four.add(gpu / cpu->per_second);
            }
            table.rows.push_back(ratios_row(fmt::format("{}, p = {}", pair.name, terms), {}, one, four,
                                            [](double value) { return StudyValue::of(value); }));
        }
    return table;
}

} // namespace farfield::hermite
