// Exact sums of 1/r at one target in double, many sources abreast: what verification takes where terms in
// long double would take longer than the sum itself.
#pragma once

#include "sums/kernels/exact.h"

#include <span>
#include <vector>

namespace farfield {

/// Σ q/r and Σ q (x − y)/r³, with r² = |x − y|² + ε², over all sources but `own`; pairs at one place are left
/// out. Rounding errors stay at some 1e-15 of the sum of magnitudes for any number of sources.
struct InverseDistanceRow {
    double potential = 0.0;
    double field[3] = {0.0, 0.0, 0.0};
};
/// Of several targets with the same sources, which are read once for all of them. The sums of a target do not
/// depend on the others. @pre dimension = 3 and columns = 1.
std::vector<InverseDistanceRow> inverse_distance_rows(std::span<const ExactTask> tasks);

} // namespace farfield
