// Measures the coefficients of the cost table that the fast multipole method has, on this machine's CPU.
#pragma once

#include "studies/tune_measure.h"

namespace farfield {

/// Adds the coefficients to `costs`: those of translations and of functions for each ISA and type, the others
/// with the best ISA. `settings.points` are those of the smaller sums. @returns false where it was stopped.
bool measure_fmm(const MeasureSettings& settings, CostTable& costs);

} // namespace farfield
