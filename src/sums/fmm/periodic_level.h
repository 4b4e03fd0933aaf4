// Level 0 of a periodic tree.
#pragma once

#include "sums/direct/periodic/image_problem.h"
#include "sums/lattice/images/image_grid.h"
#include "sums/method/problem.h"

namespace farfield {

/// A box is summed with a periodic tree, whose cells across its faces are neighbours: a cube.
bool has_periodic_tree(const SumProblem& problem);

/// Its cells, which are 1 wide, and the images of each that are neighbours.
ImageGrid periodic_level(int coarse, int separation);

/// What images beyond its neighbours take, about.
struct PeriodicCosts {
    FarCosts harmonics, polynomials; ///< polynomials: of charges whose softening shows there, at points
};
PeriodicCosts periodic_costs(const SumProblem& problem, int coarse, const ImageShape& shape);

} // namespace farfield
