#include "sums/fmm/gpu_shape.h"

#include "sums/fmm/tensor_operators.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

/// Rates of an H200.
struct Rates {
    double pairs, multiply_adds; ///< a second
    double seconds_a_cell;       ///< beside multiply-adds
};
constexpr Rates in_float{1.3e12, 12e12, 3e-9};
constexpr Rates in_double{0.5e12, 6e12, 4e-9};
constexpr double tensor_seconds_a_cell = 3e-9;

} // namespace

double gpu_leaf(const FmmOrder& order, bool wide) {
    const auto& rates = wide ? in_double : in_float;
    auto plain = order;
    plain.m2l = M2L::matrix;
    plain.coarse = 1;
    const double cell =
        rates.seconds_a_cell + (!wide && has_tensor_operators(order)
                                    ? tensor_seconds_a_cell
                                    : multiply_adds_a_cell(plain, wide) / rates.multiply_adds);
    const double neighbours = std::pow(2.0 * order.separation + 1.0, 3);
    // N·neighbours·leaf/pairs + N/leaf·(8/7)·cell is least
    return std::clamp(std::sqrt(8.0 / 7.0 * cell * rates.pairs / neighbours), 8.0, 1000.0);
}

FmmShape gpu_fmm_shape(const SumProblem& problem, SumOptions options, const CostTable& table, int order) {
    options.m2l = M2L::matrix;
    auto shape = fmm_shape(problem, options, table, order);
    if (options.leaf <= 0 && options.depth < 0) {
        options.leaf = static_cast<int>(std::lround(gpu_leaf(shape.order, shape.wide)));
        shape = fmm_shape(problem, options, table, order);
    }
    if (!shape.wide && has_tensor_operators(shape.order)) shape.order.grading = 0.0; // spares them nothing
    return shape;
}

} // namespace farfield
