#include "sums/treecode/costs.h"

#include "backend/threads/parallel.h"
#include "math/portable/functions.h"
#include "sums/costs/fmm_coefficients.h"
#include "sums/direct/common/costs.h"
#include "sums/expansions/cartesian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace farfield {
namespace {

using std::numbers::pi;
constexpr double radius_of_width = 0.8660254037844386; ///< √3/2: half the diagonal of a cube
constexpr double square_of_width = 0.25;               ///< mean |y|² in a cube about its centre, 3/12
constexpr double scalar_field = 7.0;    ///< Σ|q|/ρ² in a cube, of sources that sum to 1 and a side of 1
constexpr double filled = 0.8;          ///< of the targets that a group may have
constexpr double widths_to_local = 1.2; ///< in widths of a group: there local expansions begin

/// In pairs of a direct sum: a monopole, and cells with expansions as more numbers come.
constexpr double pairs_a_monopole = 0.9, pairs_an_expansion = 2.0, pairs_a_number = 1.0 / 9.0;
/// In seconds a point of a tree: what a point takes in expansions and walks, more of it with the square of
/// the order, and in local expansions.
constexpr double tree_of_walk = 0.7, tree_of_order = 0.03, tree_of_local = 0.17;

/// On a GPU: of an execution with its tree launches and what each point takes; what walks take beside the
/// pairs of a direct sum.
constexpr double fixed_seconds = 0.6e-3, seconds_a_point = 0.5e-9, walks_beside_direct = 2.0;

bool acts_locally(const SumProblem& problem, const TreecodeShape& shape) {
    return shape.local && shape.order == 1 && problem.kernel->value == Kernel::gravity;
}

/// From the box around a group to the nearest centre of a cell that acts by its expansion.
double accepted_distance(const TreecodeShape& shape, double width) {
    const double least = radius_of_width * width * shape.least_distance();
    if (shape.accuracy <= 0.0) return least;
    const double order = shape.order;
    const double moment =
        portable::pow(radius_of_width * width, order - 1.0) * square_of_width * width * width;
    const double mass = width * width * width;
    return std::max(least, portable::pow((order + 2.0) * moment * mass / (scalar_field * shape.accuracy),
                                         1.0 / (order + 3.0)));
}

double cells_on_gpu_and_near(const SumProblem& problem, const TreecodeShape& shape) {
    const auto sources = static_cast<double>(problem.sources);
    const double distance =
        shape.theta > 0.0 ? 1.0 / shape.theta
                          : std::max(1.0, 0.5 * portable::pow(shape.accuracy, -1.0 / (shape.order + 1.0)));
    const double levels = std::max(1.0, std::log2(std::max(sources / shape.leaf, 1.0)) / 3.0);
    const double shell = 4.2 * std::pow(distance + 1.0, 3);
    const double cells = std::min(sources, shell * 0.875 * levels);
    const double near = std::min(sources, shell * shape.leaf + shape.group);
    return near + cells * (pairs_an_expansion + far_numbers(shape.order) * pairs_a_number);
}

double seconds_on_gpu(const SumProblem& problem, const TreecodeShape& shape, std::string_view gpu,
                      const CostTable& table) {
    const auto sources = static_cast<double>(problem.sources);
    const auto targets = static_cast<double>(problem.targets);
    const auto rates = gpu_rates(table, gpu, shape.wide ? Precision::float64 : Precision::mixed, false);
    const double points = problem.self ? sources : sources + targets;
    const double pairs = targets * cells_on_gpu_and_near(problem, shape);
    const double each =
        fixed_seconds + points * seconds_a_point + walks_beside_direct * pairs / rates.pairs_per_second;
    if (problem.moves) return problem.executions * each;
    const auto bytes = cost_of_sum(sources, targets, problem.self).bytes;
    return rates.start_seconds + problem.executions * (each + bytes / rates.bytes_per_second);
}

} // namespace

// A cube with a side of 1. Cells of a width are met where those twice as wide were not accepted; what lies
// within a distance of a group's box is a box with rounded edges, of which a part is outside the cube.
TreecodeCounts treecode_counts(const SumProblem& problem, const TreecodeShape& shape) {
    const auto sources = static_cast<double>(problem.sources);
    const double targets = std::max(1.0, static_cast<double>(problem.targets));
    const double side = std::min(1.0, portable::cbrt(filled * shape.group / targets));
    const auto volume = [&](double r) {
        const double whole =
            side * side * side + 6.0 * side * side * r + 3.0 * pi * side * r * r + 4.0 * pi / 3.0 * r * r * r;
        return whole / (1.0 + whole);
    };
    const double most =
        acts_locally(problem, shape) ? widths_to_local * side : std::numeric_limits<double>::max();
    TreecodeCounts out;
    double width = 1.0, inside = sources, before = 1.0; // `before`: of the cube that wider cells left
    do {
        width /= 2.0;
        inside /= 8.0;
        const double nearest = accepted_distance(shape, width);
        const double left = volume(nearest);
        const double outer = std::min(before, volume(std::max(most, nearest)));
        const double met = std::max(0.0, outer - left);
        if (inside <= shape.few)
            out.near += met * sources;
        else
            out.far += met / (width * width * width);
        before = left;
    } while (inside > shape.leaf);
    out.near = std::min(sources, out.near + before * sources);
    return out;
}

double treecode_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                        const CostTable& table) {
    const auto shape = treecode_shape(problem, options);
    if (!gpu.empty()) return seconds_on_gpu(problem, shape, gpu, table);
    const auto counts = treecode_counts(problem, shape);
    const bool local = acts_locally(problem, shape);
    const double pairs_a_cell =
        local ? pairs_a_monopole : pairs_an_expansion + pairs_a_number * far_numbers(shape.order);
    const auto targets = static_cast<double>(problem.targets);
    const double points = static_cast<double>(problem.sources) + (problem.self ? 0.0 : targets);
    const double tree = points * cost_of(table, fmm_cost::cpu_point_seconds);
    const double pairs = targets * (counts.near + counts.far * pairs_a_cell);
    const double each =
        tree * (tree_of_walk + tree_of_order * shape.order * shape.order + (local ? tree_of_local : 0.0)) +
        pairs / cpu_rates(table, options, false).pairs_per_second_a_thread;
    return cost_of(table, fmm_cost::cpu_fixed_seconds) +
           (tree + problem.executions * each) / thread_count(options.threads);
}

} // namespace farfield
