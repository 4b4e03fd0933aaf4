// Whether a loop may meet a body with itself: with d = 0 the field's term m d/ε³ is 0, as long as 1/ε³ is
// finite. No CUDA header.
#pragma once

#include "sums/kernels/loop_outputs.h"

namespace farfield::cuda {

/// Sums by float or double, as Real is. The bound leaves a strength 2³⁷ in float, 2⁴²³ in double, before m/ε³
/// overflows (and 0·∞ is not a number); what a body does to its own potential is never 0.
template <class Real>
constexpr bool self_pair_is_zero(Real softening2, int outputs) {
    constexpr Real least = sizeof(Real) == sizeof(float) ? Real(0x1p-60) : Real(0x1p-400);
    return outputs == field_only && softening2 >= least;
}

} // namespace farfield::cuda
