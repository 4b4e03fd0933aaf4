#include "sums/direct/gauss/gauss_results.h"

#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "sums/points/rescale.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

struct ResultColumns {
    std::vector<const double*> columns; ///< M numbers each, in the order of the sums
    ResultScale scale;
};

void write_gauss_columns(const ResultColumns& from, std::span<const std::int32_t> order,
                         const ArrayView& view, std::int64_t rows, int threads) {
    const auto width = from.columns.size();
    RawVector<double> values(static_cast<std::size_t>(rows) * width);
    parallel_parts(threads, static_cast<std::size_t>(rows), [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            const auto row = order.empty() ? i : static_cast<std::size_t>(order[i]);
            for (std::size_t k = 0; k < width; ++k) {
                const double value = from.scale(from.columns[k][i]);
                if (!std::isfinite(value)) refuse_gauss_row(row);
                values[row * width + k] = value;
            }
        }
    });
    write_values(view, values.data(), rows, static_cast<std::int64_t>(width));
}

} // namespace

void refuse_gauss_row(std::size_t row) {
    throw InvalidArgument(
        fmt::format("row {} of the result is not finite: strengths are so large that the sum "
                    "leaves the range of a double; rescale the input",
                    row));
}

void GaussSums::take(const SumProblem& problem, const SumOutputs& outputs, std::int64_t vectors,
                     int threads) {
    vectors_ = vectors;
    targets_ = problem.targets;
    potential_ = outputs.potential ? 1 : 0;
    gradient_ = outputs.gradient ? problem.dimension : 0;
    values_.resize(static_cast<std::size_t>(vectors * columns() * targets_));
    parallel_parts(threads, values_.size(), [&](std::size_t begin, std::size_t end) {
        std::fill(values_.data() + begin, values_.data() + end, 0.0);
    });
}

void write_gauss_sums(const SumProblem& problem, GaussSums& sums, const GaussFrame& frame, int exponent,
                      std::span<const std::int32_t> order, const SumOutputs& outputs, int threads) {
    if (sums.with_potential()) {
        ResultColumns from{{}, ResultScale(1.0, -exponent)};
        for (std::int64_t v = 0; v < sums.vectors(); ++v) from.columns.push_back(sums.potential(v));
        write_gauss_columns(from, order, outputs.potential, problem.targets, threads);
    }
    if (sums.with_gradient()) {
        ResultColumns from{{}, ResultScale(1.0, frame.exponent - exponent)};
        for (std::int64_t v = 0; v < sums.vectors(); ++v)
            for (int k = 0; k < problem.dimension; ++k) from.columns.push_back(sums.gradient(v, k));
        write_gauss_columns(from, order, outputs.gradient, problem.targets, threads);
    }
}

} // namespace farfield
