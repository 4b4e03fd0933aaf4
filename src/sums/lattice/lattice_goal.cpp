#include "sums/lattice/lattice_goal.h"

#include "sums/method/refining.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace farfield {
namespace {

constexpr double share_of_tolerance = 0.5, usual_goal = 5e-7, least_goal = 1e-16;

/// What errors may be more than the estimates' unit allows, as the fields of close pairs are that much
/// stronger: a power of √2, so that moving points seldom need another sum. Potentials gain less by such
/// pairs.
double looser_goal(double near_field) {
    constexpr double share = 0.6, most = 12.0;
    const double looser = std::min(share * near_field, most);
    return looser <= 1.0 ? 1.0 : std::exp2(0.5 * std::floor(2.0 * std::log2(looser)));
}

} // namespace

double first_lattice_goal(const SumProblem& problem) {
    return problem.tolerance > 0.0 ? share_of_tolerance * problem.tolerance : usual_goal;
}

SumProblem in_a_box(SumProblem problem) {
    if (!problem.is_periodic_box()) problem.period = {1.0, 1.0, 1.0};
    return problem;
}

bool LatticeGoal::set_near_field(double strength) {
    const double looser = looser_goal(strength);
    return std::exchange(looser_, looser) != looser;
}

bool LatticeGoal::sharpen(double error) {
    if (value() <= least_goal) return false;
    goal_ = std::max(least_goal / looser_, goal_ / refinement(error, tolerance_));
    return true;
}

} // namespace farfield
