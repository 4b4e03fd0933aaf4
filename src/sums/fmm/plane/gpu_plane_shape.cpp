#include "sums/fmm/plane/gpu_plane_shape.h"

#include "sums/direct/common/costs.h"
#include "sums/direct/common/device_model.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

/// Rates of an H200.
struct PlaneGpuRates {
    double pairs; ///< a second
    double seconds_a_cell, multiply_adds;
    double seconds_a_point, seconds_a_term; ///< of each point, and of each term of its expansions
    double fixed_seconds;
};
constexpr PlaneGpuRates plane_in_float{1.0e12, 4.5e-9, 12e12, 0.15e-9, 2e-12, 0.3e-3};
constexpr PlaneGpuRates plane_in_double{0.34e12, 8e-9, 12e12, 0.15e-9, 2e-12, 0.3e-3};
constexpr double least_plane_leaf = 8.0, most_plane_leaf = 200.0;
/// Leaves of unlike size act on each other point by point up to so many: that takes less time there.
constexpr std::int32_t few_plane_points = 64;
constexpr int most_gpu_coarse =
    3; ///< a coarsest level of more cells would keep few thread blocks busy for long
constexpr double senders_a_cell = 27.0;
constexpr double graded_share = 0.6; ///< of the multiply-adds of the full order

const PlaneGpuRates& plane_gpu_rates(const SumProblem& problem) {
    return problem.precision == Precision::float64 ? plane_in_double : plane_in_float;
}

double seconds_of_cell(const PlaneGpuRates& rates, int order) {
    return rates.seconds_a_cell +
           senders_a_cell * 2.0 * graded_share * std::pow(order + 1.0, 2) / rates.multiply_adds;
}

} // namespace

PlaneShape gpu_plane_shape(const SumProblem& problem, SumOptions options, const CostTable& table, int order,
                           double reach) {
    auto shape = plane_shape(problem, options, table, order, reach, most_gpu_coarse);
    if (options.leaf <= 0 && options.depth < 0) {
        const auto& rates = plane_gpu_rates(problem);
        // N·9·leaf/pairs + N/leaf·(4/3)·cell is least
        const double neighbours = std::pow(2.0 * shape.order.separation + 1.0, 2);
        const double cell = 4.0 / 3.0 * seconds_of_cell(rates, shape.order.order);
        const double leaf = std::sqrt(cell * rates.pairs / neighbours);
        options.leaf = static_cast<int>(std::lround(std::clamp(leaf, least_plane_leaf, most_plane_leaf)));
        shape = plane_shape(problem, options, table, order, reach, most_gpu_coarse);
    }
    shape.few = std::max(shape.few, few_plane_points);
    return shape;
}

// Coordinates of floats, which count from the centre of a leaf, are off by 2e-8 of its width (root of the
// mean square). Evenly spread points have as much of Σ E² in each octave of distances, a dozen octaves or
// more: pairs from a distance c on, in widths, leave 2e-8/c · √(4/3 / 12).
float plane_close(const LaurentOrder& order) {
    constexpr double rounding = 2e-8 / 3.0, share = 0.1;
    const double wanted = share * std::pow(10.0, -plane_digits(order.order, order.separation));
    return static_cast<float>(std::min(rounding / wanted, 1.0 / 16.0));
}

double gpu_plane_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                         const CostTable& table) {
    const auto shape = gpu_plane_shape(problem, options, table);
    const auto precision = problem.precision == Precision::float64 ? Precision::float64 : Precision::mixed;
    const auto there = gpu_rates(table, gpu, precision, false);
    const double slower =
        gpu_rates(table, "NVIDIA H200", precision, false).pairs_per_second / there.pairs_per_second;
    const auto& rates = plane_gpu_rates(problem);
    const auto sources = static_cast<double>(problem.sources), targets = static_cast<double>(problem.targets);
    const double points = problem.self ? sources : sources + targets;
    const double near = shape.grid.neighbours(shape.order.separation) * sources * targets /
                        std::pow(shape.grid.cells(), 2) / rates.pairs;
    const double far = 4.0 / 3.0 * shape.grid.cells() * seconds_of_cell(rates, shape.order.order) +
                       points * (rates.seconds_a_point + shape.order.order * rates.seconds_a_term);
    const double each = rates.fixed_seconds + slower * (near + far);
    const auto bytes = cost_of_sum(sources, targets, problem.self).bytes;
    return there.start_seconds + problem.executions * (each + bytes / there.bytes_per_second);
}

} // namespace farfield
