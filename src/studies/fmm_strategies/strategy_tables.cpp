#include "studies/fmm_strategies/strategy_tables.h"

#include "studies/fmm_strategies/memory_kinds.h"
#include "studies/fmm_strategies/real_form.h"
#include "studies/fmm_strategies/rotations.h"
#include "studies/fmm_strategies/sparse_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield::strategies {
namespace {

std::vector<std::string> order_columns(const Measurements& measured) {
    std::vector<std::string> columns;
    for (const int order : measured.orders()) columns.push_back(fmt::format("p={}", order));
    return columns;
}

std::string named(const StrategyInfo& info) {
    return info.source.empty() ? "here, " + std::string(info.name) : std::string(info.name);
}

std::string slide_of(std::string_view slide) {
    return slide.empty() ? std::string() : fmt::format("FMM goes GPU, {}", slide);
}

double work(int order, int depth) {
    return multiply_adds(order) * static_cast<double>(translations_of_depth(depth));
}

StudyValue seconds_of(Measurements& measured, Strategy strategy, int order, int depth,
                      bool is_double = true) {
    if (!measured.has_gpu()) return measured.missing();
    const auto time = measured.time(strategy, order, depth, is_double);
    return StudyValue::of(time.seconds, time.error);
}

} // namespace

StudyTable times_table(Measurements& measured) {
    const int depth = measured.deepest();
    StudyTable table{fmt::format("M2L at depth {}, {} boxes on the deepest level, seconds, double", depth,
                                 boxes_of_level(depth)),
                     order_columns(measured),
                     {}};
    std::vector<StudyRow> rows;
    rows.reserve(strategy_table.size());
    for (const auto& info : strategy_table) rows.push_back({named(info), {}, {}});
    StudyRow host{"the host's loops, all threads (from sampled boxes)", {}, {}};
    StudyRow optimal{"optimal: the loops' multiply-adds at the peak measured", {}, {}};
    StudyRow cubed{"the same of rotations", {}, {}};
    for (const int order : measured.orders()) { // all of one order while its moments are there
        for (std::size_t n = 0; n < rows.size(); ++n)
            rows[n].values.push_back(seconds_of(measured, strategy_table[n].strategy, order, depth));
        host.values.push_back(StudyValue::of(measured.host(order, depth)));
        if (!measured.has_gpu()) {
            optimal.values.push_back(measured.missing());
            cubed.values.push_back(measured.missing());
            continue;
        }
        optimal.values.push_back(StudyValue::of(work(order, depth) / measured.peak(true)));
        cubed.values.push_back(
            StudyValue::of(rotated_multiply_adds(order) * static_cast<double>(translations_of_depth(depth)) /
                           measured.peak(true)));
    }
    table.rows = std::move(rows);
    table.rows.push_back(std::move(optimal));
    table.rows.push_back(std::move(cubed));
    table.rows.push_back(std::move(host));
    return table;
}

StudyTable gain_table(Measurements& measured) {
    StudyTable table{
        "Gain of the sequential inner loop over full parallelization", order_columns(measured), {}};
    for (const double gain : {slides_least_gain, slides_most_gain})
        table.rows.push_back({gain == slides_least_gain ? "Tesla K40, at least" : "Tesla K40, at most",
                              slide_of("Full Parallelization Costs"),
                              std::vector<StudyValue>(table.columns.size(), StudyValue::given(gain))});
    for (const int depth : measured.depths()) {
        StudyRow row{fmt::format("here, depth {}", depth), {}, {}};
        for (const int order : measured.orders())
            row.values.push_back(
                measured.has_gpu() ? StudyValue::of(measured.time(Strategy::full, order, depth).seconds /
                                                    measured.time(Strategy::sequential, order, depth).seconds)
                                   : measured.missing());
        table.rows.push_back(std::move(row));
    }
    return table;
}

// A row a strategy, a column an order: how much slower than the fastest, which is 1.
std::vector<StudyTable> winner_tables(Measurements& measured) {
    std::vector<StudyTable> tables;
    for (const int depth : measured.depths()) {
        StudyTable table{fmt::format("Times the fastest at depth {}: 1 is the winner", depth),
                         order_columns(measured),
                         {}};
        for (const auto& info : strategy_table) table.rows.push_back({named(info), {}, {}});
        StudyRow among{"the slides' winner, by its number above", {}, {}};
        for (const int order : measured.orders()) {
            if (!measured.has_gpu()) {
                for (auto& row : table.rows) row.values.push_back(measured.missing());
                among.values.push_back(measured.missing());
                continue;
            }
            std::vector<double> seconds;
            seconds.reserve(strategy_table.size());
            if (order == 2 || order == 4 || order == 8 || order == 16) measured.indices(order, depth);
            if (depth == measured.deepest()) // while the moments are there
                for (const auto strategy : {Strategy::tiles, Strategy::rotated})
                    measured.time(strategy, order, depth, false);
            for (const auto& info : strategy_table)
                seconds.push_back(measured.time(info.strategy, order, depth).seconds);
            const double least = *std::min_element(seconds.begin(), seconds.end());
            for (std::size_t n = 0; n < seconds.size(); ++n)
                table.rows[n].values.push_back(StudyValue::of(
                    seconds[n] / least, measured.time(strategy_table[n].strategy, order, depth).error));
            const auto end = seconds.begin() + 5; // the slides'
            among.values.push_back(StudyValue::of(
                static_cast<double>(std::min_element(seconds.begin(), end) - seconds.begin()) + 1));
        }
        table.rows.push_back(std::move(among));
        tables.push_back(std::move(table));
    }
    return tables;
}

StudyTable indices_table(Measurements& measured) {
    StudyTable table{"Index arithmetic alone, over full parallelization, % of its time", {}, {}};
    constexpr std::array orders{2, 4, 8, 16};
    for (const int order : orders) table.columns.push_back(fmt::format("p={}", order));
    for (const int depth : measured.depths()) {
        StudyRow row{fmt::format("depth {}", depth), {}, {}};
        for (const int order : orders)
            row.values.push_back(measured.has_gpu()
                                     ? StudyValue::of(100 * measured.indices(order, depth) /
                                                      measured.time(Strategy::full, order, depth).seconds)
                                     : measured.missing());
        table.rows.push_back(std::move(row));
    }
    return table;
}

StudyTable cubed_table(Measurements& measured) {
    const int depth = measured.deepest();
    StudyTable table{
        fmt::format("p³ against p⁴ at depth {}: rotations over matrix tiles, times as fast", depth),
        order_columns(measured),
        {}};
    StudyRow model{"multiply-adds: real matrix over rotations", {}, {}};
    for (const int order : measured.orders())
        model.values.push_back(StudyValue::given(std::pow(order + 1.0, 4) / rotated_multiply_adds(order)));
    table.rows.push_back(std::move(model));
    for (const bool is_double : {true, false}) {
        StudyRow ratio{is_double ? "double" : "float", {}, {}},
            tiles{is_double ? "matrix tiles, double, % of peak" : "matrix tiles, float, % of peak", {}, {}},
            rotations{is_double ? "rotations, double, % of peak" : "rotations, float, % of peak", {}, {}};
        for (const int order : measured.orders()) {
            if (!measured.has_gpu()) {
                for (auto* row : {&ratio, &tiles, &rotations}) row->values.push_back(measured.missing());
                continue;
            }
            const auto fourth = measured.time(Strategy::tiles, order, depth, is_double);
            const auto third = measured.time(Strategy::rotated, order, depth, is_double);
            const double at_peak =
                100 * static_cast<double>(translations_of_depth(depth)) / measured.peak(is_double);
            ratio.values.push_back(
                StudyValue::of(fourth.seconds / third.seconds, std::max(fourth.error, third.error)));
            tiles.values.push_back(
                StudyValue::of(at_peak * std::pow(order + 1.0, 4) / fourth.seconds, fourth.error));
            rotations.values.push_back(
                StudyValue::of(at_peak * rotated_multiply_adds(order) / third.seconds, third.error));
        }
        for (auto* row : {&ratio, &tiles, &rotations}) table.rows.push_back(std::move(*row));
    }
    return table;
}

StudyTable split_table(Measurements& measured) {
    StudyTable table{fmt::format("A whole sum in double: N = {}, p = {}, depth {}", slides_points,
                                 slides_order, slides_depth),
                     {"K40, %", "here, %", "here, ms", "M2L by matrix tiles, ms"},
                     {}};
    const bool can = measured.has_gpu() && measured.deepest() == slides_depth &&
                     static_cast<std::int64_t>(measured.charges().size()) == slides_points;
    const auto passes = can ? measured.whole_sum() : std::map<std::string, double, std::less<>>();
    const auto seconds = [&](std::string_view pass) {
        const auto found = passes.find(pass == "forces" ? "L2P" : pass);
        return found == passes.end() ? 0.0 : found->second;
    };
    double all = 0.0;
    for (const auto& share : slides_split) all += seconds(share.pass);
    const auto missing = measured.has_gpu() ? StudyValue::none("-") : measured.missing();
    for (const auto& share : slides_split) {
        StudyRow row{std::string(share.pass),
                     slide_of("Total Runtime Distribution"),
                     {StudyValue::given(share.percent), missing, missing, StudyValue::none("")}};
        if (can) {
            row.values[1] = StudyValue::of(100.0 * seconds(share.pass) / all);
            row.values[2] = StudyValue::of(1e3 * seconds(share.pass));
        }
        if (share.pass == "M2L") {
            row.values[3] = can ? seconds_of(measured, Strategy::tiles, slides_order, slides_depth) : missing;
            if (row.values[3].value) row.values[3].value = 1e3 * *row.values[3].value;
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

StudyTable memory_table(Measurements& measured) {
    constexpr int order = 8, depth = 3;
    StudyTable table{
        fmt::format("Managed against explicit memory: M2L from the host's arrays and back, p = {}, depth {}",
                    order, depth),
        {"all, ms", "kernels, ms"},
        {}};
    if (!measured.has_gpu()) {
        table.rows.push_back({"here", {}, {measured.missing(), measured.missing()}});
        return table;
    }
    measured.tell("kinds of memory");
    const auto problem = make_problem(measured.charges(), order, depth, measured.options().threads);
    const auto boxes = sample_boxes(depth, 32);
    const auto exact = host_mu(problem, boxes, measured.options().threads);
    table.title += fmt::format(
        " ({:.1f} MB in, {:.1f} MB out)",
        1e-6 * static_cast<double>(sizeof(Moment) * (problem.omega.size() + problem.operators.size())),
        1e-6 * static_cast<double>(sizeof(Moment) * problem.omega.size()));
    for (const auto& time : measure_memory_kinds(problem, std::max(measured.options().repeats, 5))) {
        const double error = error_of(problem, time.mu, boxes, exact);
        table.rows.push_back(
            {time.what, {}, {StudyValue::of(time.milliseconds, error), StudyValue::of(time.kernels)}});
    }
    return table;
}

StudyTable sparse_table(Measurements& measured) {
    const int order = measured.options().quick || !measured.has_gpu() ? 4 : 10;
    StudyTable table{
        fmt::format("Deep trees of a cluster, boxes that hold points alone, p = {}, double", order),
        {"boxes", "dense boxes", "translations", "M2L, ms", "1e9 multiply-adds/s"},
        {}};
    const auto charges = clustered_charges(std::min<std::int64_t>(20000, measured.options().most_points));
    for (const int depth : {4, 7, 10}) {
        measured.tell(fmt::format("sparse tree of depth {}", depth));
        const auto problem = make_sparse(charges, order, depth, measured.options().threads);
        const auto pairs = static_cast<double>(problem.source.size());
        StudyRow row{fmt::format("depth {}, {} points", depth, charges.size()),
                     {},
                     {StudyValue::of(static_cast<double>(problem.boxes())),
                      StudyValue::given((std::pow(8.0, depth + 1) - 64) / 7), StudyValue::of(pairs)}};
        if (measured.has_gpu()) {
            const auto result = run_sparse(problem, std::max(measured.options().repeats, 3));
            std::vector<std::size_t> boxes;
            for (std::size_t n = 0; n < 64; ++n) boxes.push_back(n * (problem.boxes() - 1) / 63);
            const auto error = sparse_error(problem, result.mu, boxes,
                                            host_sparse(problem, boxes, measured.options().threads));
            row.values.push_back(StudyValue::of(result.milliseconds, error));
            row.values.push_back(StudyValue::of(1e-6 * pairs * multiply_adds(order) / result.milliseconds));
        } else {
            row.values.insert(row.values.end(), 2, measured.missing());
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace farfield::strategies
