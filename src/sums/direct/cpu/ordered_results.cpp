#include "sums/direct/cpu/ordered_results.h"

#include "backend/comm/agree.h"
#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "sums/direct/common/repair.h"
#include "sums/kernels/kernel.h"
#include "sums/points/over_ranks.h"
#include "sums/points/power_of_two.h"
#include "sums/points/rescale.h"
#include "sums/points/rows_of_ranks.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace farfield {
namespace {

// Numbers of rows of `width` in the caller's order.
std::vector<double> in_callers_order(std::span<const double> values, std::size_t width,
                                     std::span<const std::int32_t> from) {
    std::vector<double> out(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        out[width * static_cast<std::size_t>(from[i / width]) + i % width] = values[i];
    return out;
}

} // namespace

bool write_rows(const OrderedSums& from, const DirectResults& results, int threads) {
    const auto& to = from.target_from;
    const auto& sums = from.sums;
    const auto& kernel = *from.problem.kernel;
    const auto scale_of = [&](Output output, const double* values) {
        return values == nullptr
                   ? ResultScale(1.0, 0)
                   : ResultScale(kernel.sign,
                                 kernel.result_exponent(output, from.frame.exponent, from.strength_exponent));
    };
    const auto of_potential = scale_of(Output::potential, results.potential);
    const auto of_field = scale_of(Output::field, results.field);
    const auto of_hessian = scale_of(Output::hessian, results.hessian);
    std::atomic<bool> all_finite = true;
    parallel_parts(threads, to.size(), [&](std::size_t begin, std::size_t end) {
        bool finite = true;
        const auto write = [&](double& out, const ResultScale& scale, double value) {
            out = scale(value);
            finite = finite && std::isfinite(out);
        };
        for (auto i = begin; i < end; ++i) {
            const auto row = static_cast<std::size_t>(to[i]);
            if (results.potential != nullptr) write(results.potential[row], of_potential, sums.potential[i]);
            for (std::size_t axis = 0; axis < 3 && results.field != nullptr; ++axis)
                write(results.field[3 * row + axis], of_field, sums.field[axis][i]);
            for (std::size_t k = 0; k < 6 && results.hessian != nullptr; ++k)
                write(results.hessian[6 * row + k], of_hessian, sums.hessian[k][i]);
        }
        if (!finite) all_finite = false;
    });
    return all_finite;
}

namespace {

/// Points, strengths and results in the caller's order.
void repair(const OrderedSums& from, std::span<const double> source_points,
            std::span<const double> target_points, std::span<const double> strengths,
            std::span<const double> dipoles, const DirectResults& results, SumReport& report) {
    const auto& problem = from.problem;
    report.direct.coincident_pairs_skipped =
        repair_rows({.sources = problem.sources,
                     .targets = problem.targets,
                     .source_points = source_points.data(),
                     .strengths = strengths.data(),
                     .dipoles = dipoles.empty() ? nullptr : dipoles.data(),
                     .target_points = problem.self ? source_points.data() : target_points.data(),
                     .self = problem.self,
                     .softening = from.softening,
                     .frame_exponent = from.frame.exponent,
                     .strength_exponent = from.strength_exponent,
                     .sign = problem.kernel->sign,
                     .precision = from.precision,
                     .coincident = problem.coincident,
                     .threads = report.threads,
                     .stop_requested = from.stop_requested,
                     .potential = results.potential,
                     .field = results.field,
                     .hessian = results.hessian});
}

} // namespace

namespace {

/// Where the numbers stand if they rise.
template <class Number>
std::vector<std::size_t> order_of(const std::vector<Number>& numbers) {
    std::vector<std::size_t> order(numbers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
    return order;
}

/// Rows of equal width in that order; as they are where it is empty.
std::vector<double> in_order(std::vector<double> values, const std::vector<std::size_t>& order) {
    if (order.empty() || values.empty()) return values;
    const auto width = values.size() / order.size();
    std::vector<double> out;
    out.reserve(values.size());
    for (const auto row : order) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * width);
        out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
    return out;
}

} // namespace

void write_ordered(const OrderedSums& from, const DirectResults& results, SumReport& report) {
    if (write_rows(from, results, report.threads)) return;
    repair(from, from.source_points, from.target_points,
           in_callers_order(from.strengths, 1, from.source_from),
           in_callers_order(from.dipoles, 3, from.source_from), results, report);
}

void write_on_ranks(comm::Transport& ranks, OrderedSums from, std::span<const double> strengths,
                    std::span<const double> dipoles, const DirectResults& results, SumReport& report) {
    if (!comm::any_rank(ranks, !write_rows(from, results, report.threads))) return;
    const auto scaled = [](std::span<const double> values, int exponent) {
        const PowerOfTwo scale(exponent);
        std::vector<double> out(values.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = scale.product(values[i]);
        return out;
    };
    const auto charges = scaled(strengths, from.strength_exponent);
    const auto moments = scaled(dipoles, from.strength_exponent + from.frame.exponent);
    from.strengths = charges;
    from.dipoles = moments;
    repair_on_ranks(ranks, from, results, report);
}

void repair_on_ranks(comm::Transport& ranks, const OrderedSums& from, const DirectResults& results,
                     SumReport& report) {
    const RowsOfRanks rows(ranks, std::ssize(from.target_from));
    auto potential = rows.gather(ranks, results.potential, 1), field = rows.gather(ranks, results.field, 3),
         hessian = rows.gather(ranks, results.hessian, 6);
    const auto place_of = [](std::vector<double>& values) {
        return values.empty() ? nullptr : values.data();
    };
    auto sources = all_of_ranks(ranks, from.source_points);
    const auto targets = all_of_ranks(ranks, from.target_points);
    auto strengths = all_of_ranks(ranks, from.strengths);
    auto dipoles = all_of_ranks(ranks, from.dipoles);
    const auto by_number = order_of(all_of_ranks(ranks, from.numbers));
    for (auto* one : {&sources, &strengths, &dipoles, &potential, &field, &hessian})
        *one = in_order(std::move(*one), by_number);
    const DirectResults of_all{
        .potential = place_of(potential), .field = place_of(field), .hessian = place_of(hessian)};
    comm::together(ranks, [&] { repair(from, sources, targets, strengths, dipoles, of_all, report); });
    const auto as_given = order_of(by_number);
    for (auto* one : {&potential, &field, &hessian}) *one = in_order(std::move(*one), as_given);
    rows.keep_own(potential, 1, results.potential);
    rows.keep_own(field, 3, results.field);
    rows.keep_own(hessian, 6, results.hessian);
}

} // namespace farfield
