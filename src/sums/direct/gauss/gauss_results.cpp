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
    const auto row_of = [&](std::size_t i) { return order.empty() ? i : static_cast<std::size_t>(order[i]); };
    const auto each_part = [&](const auto& body) {
        parallel_parts(threads, static_cast<std::size_t>(rows), body);
    };
    each_part([&](std::size_t begin, std::size_t end) { // before anything is written
        for (const double* column : from.columns)
            for (auto i = begin; i < end; ++i)
                if (!std::isfinite(from.scale(column[i]))) refuse_gauss_row(row_of(i));
    });
    const bool in_place =
        view.dtype == DType::float64 && is_contiguous(view, rows, static_cast<std::int64_t>(width));
    RawVector<double> apart(in_place ? 0 : static_cast<std::size_t>(rows) * width);
    double* const values = in_place ? static_cast<double*>(view.data) : apart.data();
    each_part([&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            for (std::size_t k = 0; k < width; ++k)
                values[row_of(i) * width + k] = from.scale(from.columns[k][i]);
    });
    if (!in_place) write_values(view, values, rows, static_cast<std::int64_t>(width));
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

std::vector<double*> GaussSums::all_columns() {
    std::vector<double*> out;
    for (std::int64_t number = 0; number < vectors_ * columns(); ++number) out.push_back(row(number));
    return out;
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
