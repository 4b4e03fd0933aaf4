// What errors a lattice sum is made for: first by the tolerance, then by the points, and by what came out.
#pragma once

#include "sums/method/problem.h"

namespace farfield {

/// The relative error aimed at first: of a tolerance a share, as estimates are of the mean.
double first_lattice_goal(const SumProblem& problem);

/// Of what is no box, and no sum of images is asked for, a unit cube.
SumProblem in_a_box(SumProblem problem);

class LatticeGoal {
public:
    explicit LatticeGoal(const SumProblem& problem)
        : tolerance_(problem.tolerance), goal_(first_lattice_goal(problem)) {}

    /// True where the result is compared with exact sums, and computed again if strengths are not alike: then
    /// `set_near_field` is asked for.
    [[nodiscard]] bool depends_on_points() const { return tolerance_ > 0.0; }
    /// Of new points (near_fields.h). True if the goal is another than before.
    bool set_near_field(double strength);

    /// A smaller goal after an error that was too large. False where there is none.
    bool sharpen(double error);

    [[nodiscard]] double value() const { return goal_ * looser_; }

private:
    double tolerance_;
    double goal_;
    double looser_ = 1.0;
};

} // namespace farfield
