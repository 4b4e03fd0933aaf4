// What softening the near images of a box, and no others, does to the mean of its potential.
#pragma once

#include "sums/lattice/images/image_grid.h"

namespace farfield {

/// The mean over box and sources of Σ 1/√(r² + ε²) − 1/r over the near images of a unit charge, in a box that
/// is periodic along all axes. Potentials of charges that do not cancel have a mean of 0 once Σ q times that
/// is taken away. @pre ε is small beside the box
double softened_mean(const ImageGrid& grid, double softening);

} // namespace farfield
