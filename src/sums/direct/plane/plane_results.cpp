#include "sums/direct/plane/plane_results.h"

#include "backend/comm/agree.h"
#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "sums/direct/common/in_turn.h"
#include "sums/method/refuse.h"
#include "sums/points/power_of_two.h"
#include "sums/points/rescale.h"
#include "sums/points/rows_of_ranks.h"

#include <farfield/error.h>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace farfield {
namespace {

bool are_finite(const double* values, std::int64_t row, std::int64_t columns) {
    return values == nullptr || std::all_of(values + row * columns, values + (row + 1) * columns,
                                            [](double value) { return std::isfinite(value); });
}

bool is_finite_row(const PlaneResults& results, std::int64_t row, std::int64_t columns) {
    return are_finite(results.potential, row, columns) && are_finite(results.field, row, 2);
}

// Potentials of sums [begin, end).
void write_potentials(const SumProblem& problem, const PlaneInputs& inputs, const PlaneSums& of,
                      double* potential, std::size_t begin, std::size_t end) {
    const ResultScale back(problem.kernel->sign, -of.strength_exponent);
    const auto columns = static_cast<std::size_t>(problem.kernel->strength.columns);
    const PowerOfTwo scale(of.strength_exponent);
    const double shift = of.frame_exponent * std::numbers::ln2;
    const double* const sums[] = {of.sums.potential, of.sums.potential_imaginary};
    for (auto i = begin; i < end; ++i) {
        const auto row = of.rows.empty() ? i : static_cast<std::size_t>(of.rows[i]);
        for (std::size_t column = 0; column < columns; ++column) {
            const auto at = columns * row + column;
            const double own = problem.self ? scale.product(inputs.strengths[at]) : 0.0;
            const double sum = sums[column] != nullptr ? sums[column][i] : 0.0;
            potential[at] = back(shift * (of.total[column] - own) - sum);
        }
    }
}

// Of vortices u − iv = w/2πi, with w = Σ Γ/(z − z_j) and (Re w, −Im w) in the sums.
void write_fields(const SumProblem& problem, const PlaneSums& of, double* field, std::size_t begin,
                  std::size_t end) {
    const ResultScale back(problem.kernel->sign, of.frame_exponent - of.strength_exponent);
    const bool turned = problem.kernel->field_is_turned;
    for (auto i = begin; i < end; ++i) {
        const auto row = of.rows.empty() ? i : static_cast<std::size_t>(of.rows[i]);
        const double x = back(of.sums.field[0][i]);
        const double y = back(of.sums.field[1][i]);
        field[2 * row] = turned ? -y : x;
        field[2 * row + 1] = turned ? x : y;
    }
}

// By the exact formula, whose range no input of doubles leaves.
CoincidentSources compute_again(const SumProblem& problem, const PlaneInputs& inputs,
                                const PlaneResults& results, std::int64_t row) {
    long double out[4] = {};
    const auto columns = problem.kernel->strength.columns;
    const auto coincident = problem.kernel->exact_long({.dimension = 2,
                                                        .columns = columns,
                                                        .sources = problem.sources,
                                                        .points = inputs.sources,
                                                        .strengths = inputs.strengths,
                                                        .target = inputs.targets + 2 * row,
                                                        .own = problem.self ? row : -1,
                                                        .sigma = problem.sigma},
                                                       out);
    for (std::int64_t k = 0; k < columns && results.potential != nullptr; ++k)
        results.potential[columns * row + k] = static_cast<double>(out[k]);
    for (std::int64_t k = 0; k < 2 && results.field != nullptr; ++k)
        results.field[2 * row + k] = static_cast<double>(out[columns + k]);
    return coincident;
}

} // namespace

std::int64_t repair_plane_rows(const SumProblem& problem, const PlaneInputs& inputs,
                               const PlaneResults& results, int threads) {
    const auto columns = problem.kernel->strength.columns;
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < problem.targets; ++row)
        if (!is_finite_row(results, row, columns)) rows.push_back(row);
    std::vector<CoincidentSources> coincident(rows.size());
    std::int64_t skipped = 0;
    in_turn(
        threads, rows.size(),
        [&](std::size_t k) { coincident[k] = compute_again(problem, inputs, results, rows[k]); },
        [&](std::size_t k) {
            const bool has_cores = problem.kernel->has_sigma;
            if (coincident[k].count > 0 && problem.coincident == Coincident::error)
                refuse_coincident(problem.self, rows[k], coincident[k].first, false,
                                  has_cores ? "sigma" : "");
            if (!is_finite_row(results, rows[k], columns))
                throw InvalidArgument(fmt::format(
                    "row {} of the result is not finite: a pair is so close, or a strength so large, "
                    "that the sum leaves the range of a double; {}rescale the input",
                    rows[k], has_cores ? fmt::format("set {} > 0 or ", spelled("sigma")) : std::string()));
            skipped += coincident[k].count;
        });
    return skipped;
}

std::int64_t repair_plane_rows_on_ranks(comm::Transport& ranks, const SumProblem& problem,
                                        const SumProblem& own, const PlaneInputs& inputs,
                                        const PlaneResults& results, int threads) {
    const std::int64_t columns = problem.kernel->strength.columns;
    const RowsOfRanks of_sources(ranks, own.sources), of_targets(ranks, own.targets);
    const auto all = [&](const RowsOfRanks& rows, const double* mine, std::int64_t width) {
        return rows.gather(ranks, std::span(mine, static_cast<std::size_t>(rows.mine() * width)), width);
    };
    const auto sources = all(of_sources, inputs.sources, 2);
    const auto strengths = all(of_sources, inputs.strengths, columns);
    const auto targets = problem.self ? std::vector<double>() : all(of_targets, inputs.targets, 2);
    auto potential = of_targets.gather(ranks, results.potential, columns),
         field = of_targets.gather(ranks, results.field, 2);
    const auto place_of = [](std::vector<double>& values) {
        return values.empty() ? nullptr : values.data();
    };
    std::int64_t skipped = 0;
    comm::together(ranks, [&] {
        skipped = repair_plane_rows(problem,
                                    {.sources = sources.data(),
                                     .strengths = strengths.data(),
                                     .targets = problem.self ? sources.data() : targets.data()},
                                    {.potential = place_of(potential), .field = place_of(field)}, threads);
    });
    of_targets.keep_own(potential, columns, results.potential);
    of_targets.keep_own(field, 2, results.field);
    return skipped;
}

bool write_plane_rows(const SumProblem& problem, const PlaneInputs& inputs, const PlaneSums& sums,
                      const PlaneResults& results, int threads) {
    const auto finite = parallel_results(
        threads, static_cast<std::size_t>(problem.targets), [&](std::size_t begin, std::size_t end) {
            if (results.potential != nullptr)
                write_potentials(problem, inputs, sums, results.potential, begin, end);
            if (results.field != nullptr) write_fields(problem, sums, results.field, begin, end);
            char all = 1;
            for (auto i = begin; i < end; ++i) {
                const auto row = sums.rows.empty() ? static_cast<std::int64_t>(i) : sums.rows[i];
                if (!is_finite_row(results, row, problem.kernel->strength.columns)) all = 0;
            }
            return all;
        });
    return std::find(finite.begin(), finite.end(), char{0}) == finite.end();
}

std::int64_t write_plane_results(const SumProblem& problem, const PlaneInputs& inputs, const PlaneSums& sums,
                                 const PlaneResults& results, int threads) {
    if (write_plane_rows(problem, inputs, sums, results, threads)) return 0;
    return repair_plane_rows(problem, inputs, results, threads);
}

} // namespace farfield
