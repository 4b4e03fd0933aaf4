// Bounds of the rounding errors of the pairs that act point by point: they are not expanded, but they are
// summed in the precision of the sum, of inputs rounded to it.
#pragma once

#include "sums/fmm/target_bounds.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <farfield/sum_options.h>

#include <span>

namespace farfield {

struct NearBoundsTask {
    const Octree* tree = nullptr;
    const NearLists* lists = nullptr;
    std::span<const double> strengths; ///< in the order of the tree
    std::span<const double> dipoles;   ///< N×3, or empty
    Precision precision = Precision::float64;
    int threads = 1;
};

/// Adds to `rounding` of the outputs that are wanted: for each target units of rounding times the number of
/// operations that a term may meet, times Σ|q|/r, Σ|q|/r², Σ|q|/r³ over its near sources; and what moving the
/// points by as much as rounding does may change. Infinite where that is no small part of their distance.
void add_near_rounding(const NearBoundsTask& task, OutputBounds& bounds);

} // namespace farfield
