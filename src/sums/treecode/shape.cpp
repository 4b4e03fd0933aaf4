#include "sums/treecode/shape.h"

#include "math/portable/functions.h"
#include "sums/expansions/local.h"
#include "sums/method/refining.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr double usual_theta = 0.5; ///< where neither θ nor a tolerance is given
constexpr int usual_order = 3;
/// On a CPU monopoles act through local expansions, higher orders do not: down to this tolerance they are the
/// faster.
constexpr double least_tolerance_of_monopoles = 7e-4;
/// Where they fall short by more, a higher order is.
constexpr double most_of_monopoles = 8.0;
/// Of θ for a tolerance: the series of a cell converges as powers of its radius over the distance.
constexpr double most_theta = 1.0;
/// Where local expansions begin with θ = 1. There and with smaller θ what they leave out, (radius/ρ)^q of the
/// field, is small beside what monopoles do, θ²: so the distance goes with θ^(−2/q).
constexpr double local_distance2_at_1 = 4.0, local_power = 2.0 / local_order;
/// What a further order takes off the estimates that are accepted, so that it is no faster, but more
/// accurate.
constexpr double sharper_an_order = 3.0;
/// Errors of many cells cancel in part, so that with masses of one sign the error of a sum is several times
/// less than the accuracy of a cell. Where charges of both signs cancel, so does the field that errors are
/// compared with, and nothing is left to give away; nor is with monopoles.
constexpr double looser_for_masses = 2.0;
constexpr double radius_of_size = 0.8660254037844386; ///< √3/2: half the diagonal of a cube

/// By the tolerance.
bool prefers_monopoles(const SumProblem& problem, const SumOptions& options) {
    return problem.kernel->value == Kernel::gravity && options.device.kind != DeviceKind::cuda &&
           problem.tolerance >= least_tolerance_of_monopoles;
}

int order_for(double tolerance) {
    const double digits = -std::log10(tolerance);
    return std::clamp(static_cast<int>(std::lround(0.9 * digits - 0.4)), 1, most_cartesian_order);
}

} // namespace

double TreecodeShape::least_distance() const {
    return 1.0 / (radius_of_size * (theta > 0.0 ? theta : most_theta));
}

double TreecodeShape::local_distance2() const {
    return local_distance2_at_1 * portable::pow(theta > 0.0 ? theta : most_theta, -2.0 * local_power);
}

TreecodeShape treecode_shape(const SumProblem& problem, const SumOptions& options, int order,
                             double sharper) {
    TreecodeShape shape;
    shape.wide = is_wide(options.precision);
    const double tolerance = problem.tolerance;
    const bool masses = problem.kernel->value == Kernel::gravity;
    const int usual = tolerance <= 0.0                      ? usual_order
                      : prefers_monopoles(problem, options) ? 1
                                                            : order_for(tolerance);
    shape.order = std::min(order > 0           ? order
                           : options.order > 0 ? options.order
                                               : usual,
                           most_cartesian_order);
    shape.theta = options.theta > 0.0 ? options.theta : tolerance > 0.0 ? 0.0 : usual_theta;
    if (tolerance > 0.0) {
        const int more = std::max(0, shape.order - usual);
        const double looser = masses && shape.order > 1 ? looser_for_masses : 1.0;
        shape.accuracy = looser * tolerance / (sharper * std::pow(sharper_an_order, more));
    }
    shape.few = std::min(2 * shape.order, 16); // pairs that take as long as an expansion, about
    if (options.leaf > 0) shape.leaf = options.leaf;
    return shape;
}

int treecode_order_after(int order, double error, double tolerance) {
    const double missing = std::isfinite(error) && tolerance > 0.0 ? std::max(error / tolerance, 1.0) : 3.0;
    const int more = static_cast<int>(std::ceil(std::log(1.5 * missing) / std::log(sharper_an_order)));
    return std::min(order + std::clamp(more, 1, 6), most_cartesian_order);
}

bool refined(TreecodeShape& shape, double& sharper, const SumProblem& problem, const SumOptions& options,
             double error) {
    if (shape.accuracy <= 0.0) return false;
    const double factor = refinement(error, problem.tolerance);
    const bool stays = shape.order == 1 && prefers_monopoles(problem, options) && factor <= most_of_monopoles;
    if (options.order == 0 && shape.order < most_cartesian_order && !stays) {
        shape = treecode_shape(problem, options, treecode_order_after(shape.order, error, problem.tolerance),
                               sharper);
        return true;
    }
    constexpr double sharpest = 1e6;
    if (sharper >= sharpest) return false;
    sharper *= factor;
    shape = treecode_shape(problem, options, shape.order, sharper);
    return true;
}

} // namespace farfield
