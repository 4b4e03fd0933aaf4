#include "sums/direct/cuda/periodic/image_costs.h"

#include "base/spelling.h"
#include "sums/direct/common/costs.h"
#include "sums/lattice/images/image_operator.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace farfield {
namespace {

/// On an H200, in double: a multiply-add of the operators, and a function of a point.
constexpr double gpu_seconds_a_product = 1e-12, gpu_seconds_a_function = 1e-12;
/// Launches, and where the host waits for numbers of points.
constexpr double fixed_seconds = 0.4e-3;
/// Operators are made on the host, by the cores that a GPU's host has.
constexpr double host_cores = 16.0;

double shortest_period(const Lengths& period) {
    double shortest = HUGE_VAL;
    for (const double length : period)
        if (length > 0.0) shortest = std::min(shortest, length);
    return shortest;
}

std::int64_t images_of(const SumProblem& problem, const ImageGrid& grid) {
    return static_cast<std::int64_t>((grid.copies() - 1.0) * static_cast<double>(problem.sources));
}

/// Of a box whose points move operators are made once for very many executions. Those of softened images take
/// so long that some hundred executions are to win their time back.
double operator_seconds(const SumProblem& problem, const FarCosts& far) {
    constexpr double softened_steps = 300.0;
    const double seconds = far.operator_seconds / host_cores;
    if (!problem.moves) return seconds;
    return far.is_soft ? seconds / softened_steps : 0.0;
}

double seconds_beside_home(const SumProblem& problem, const ImageGrid& grid, const ImageShape& shape,
                           int exponent, const OpenSeconds& seconds) {
    const auto far = far_costs(problem, grid, shape);
    return seconds(rim_problem(problem, exponent, images_of(problem, grid))) +
           problem.executions * far.products * gpu_seconds_a_product + operator_seconds(problem, far);
}

std::optional<ImageGrid> best_grid(const SumProblem& problem, const Lengths& period, const Lengths& low,
                                   const Lengths& extent, const ImageShape& shape, int exponent,
                                   const OpenSeconds& seconds) {
    return best_image_grid(period, low, extent, shape.separation, [&](const ImageGrid& one) {
        return seconds_beside_home(problem, one, shape, exponent, seconds);
    });
}

/// Of points that are not known yet.
ImageGrid expected_gpu_grid(const SumProblem& problem, const ImageShape& shape, const OpenSeconds& seconds) {
    Lengths extent{};
    for (std::size_t k = 0; k < 3; ++k)
        extent[k] = problem.period[k] > 0.0 ? problem.period[k] : shortest_period(problem.period);
    const auto grid = best_grid(problem, problem.period, {}, extent, shape, 0, seconds);
    return grid ? *grid
                : image_grid(problem.period, {}, extent,
                             *std::max_element(problem.period.begin(), problem.period.end()),
                             shape.separation);
}

/// Of an execution, at points.
double point_seconds(const SumProblem& problem, const FarCosts& far) {
    const double points = static_cast<double>(problem.sources) + 4.0 * static_cast<double>(problem.targets);
    return gpu_seconds_a_function * points * far.functions;
}

/// Of operators, and of sums of parts and cells.
double expansion_bytes(const SumProblem& problem, const FarCosts& far, double cells) {
    const double parts = std::min(4096.0, static_cast<double>(problem.sources) / 512.0); // of cells
    return 8.0 * far.numbers + 8.0 * 1.3 * far.functions * (parts + 11.0 * cells + 0.25 * cells * cells);
}

} // namespace

BoxExtent rounded_extent(const Lengths& period, const Lengths& low, const Lengths& high) {
    constexpr double share = 0.125;
    const double unit = share * std::exp2(std::floor(std::log2(shortest_period(period))));
    BoxExtent out;
    for (std::size_t k = 0; k < 3; ++k) {
        if (period[k] > 0.0) continue;
        out.low[k] = unit * std::floor(low[k] / unit);
        out.extent[k] = unit * std::ceil(high[k] / unit) - out.low[k];
    }
    return out;
}

ImageGrid choose_gpu_image_grid(const SumProblem& problem, const Lengths& period, const BoxExtent& extent,
                                const ImageShape& shape, int exponent, const OpenSeconds& seconds) {
    if (const auto grid = best_grid(problem, period, extent.low, extent.extent, shape, exponent, seconds))
        return *grid;
    throw InvalidArgument(fmt::format(
        "{}: the box and the points in it are too long and thin for the expansions of far images; use {}",
        spelled("period"),
        problem.is_periodic_box() ? spelled("method", "ewald") : "points that extend less along open axes"));
}

double gpu_image_seconds(const SumProblem& problem, const ImageShape& shape, const OpenSeconds& seconds,
                         std::string_view gpu, const CostTable& table) {
    const auto rates = gpu_rates(table, gpu, Precision::float64, false);
    const double bytes =
        cost_of_sum(static_cast<double>(problem.sources), static_cast<double>(problem.targets), problem.self)
            .bytes;
    const double way =
        problem.moves ? 0.0 : rates.start_seconds + problem.executions * bytes / rates.bytes_per_second;
    const auto grid = expected_gpu_grid(problem, shape, seconds);
    return way + seconds(home_problem(problem, 0)) + seconds_beside_home(problem, grid, shape, 0, seconds) +
           problem.executions * (fixed_seconds + point_seconds(problem, far_costs(problem, grid, shape)));
}

double gpu_image_bytes(const SumProblem& problem, const ImageShape& shape, const OpenSeconds& seconds,
                       const std::function<double(const SumProblem&)>& bytes) {
    const auto grid = expected_gpu_grid(problem, shape, seconds);
    const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    const auto images = images_of(problem, grid);
    // points as given and wrapped, by cells with keys and rows, counts of images; strengths; results of the
    // box, the rim and far images
    const double points = 8.0 * n + (n + (problem.self ? 0.0 : m)) * (2.0 * 24.0 + 24.0 + 16.0 + 16.0);
    const double results = 4.0 * 32.0 * m;
    const auto far = far_costs(problem, grid, shape);
    return points + results + 36.0 * static_cast<double>(images) + bytes(home_problem(problem, 0)) +
           bytes(rim_problem(problem, 0, images)) + expansion_bytes(problem, far, grid.count());
}

// As gpu_image_bytes has it.
double gpu_soft_bytes(const SumProblem& problem, const FarCosts& polynomials) {
    if (!polynomials.is_soft) return 0.0;
    const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    return 40.0 * (n + (problem.self ? 0.0 : m)) + 32.0 * m + expansion_bytes(problem, polynomials, 1);
}

double gpu_soft_seconds(const SumProblem& problem, const FarCosts& polynomials) {
    if (!polynomials.is_soft) return 0.0;
    return operator_seconds(problem, polynomials) + problem.executions * point_seconds(problem, polynomials);
}

} // namespace farfield
