// What a periodic sum needs of all strengths together, on a GPU: always added in one order.
#pragma once

#include "backend/cuda/memory.h"

#include <cuda_runtime_api.h>

namespace farfield::cuda {

struct BoxTotals {
    double strength = 0.0;      ///< Σ q, compensated
    double magnitude = 0.0;     ///< Σ |q|
    double largest = 0.0;       ///< of |q|
    double origin[3] = {};      ///< the first source, as the caller gave it
    double moment[3] = {};      ///< Σ q y from the origin, in the frame, compensated
    double second_moment = 0.0; ///< Σ q |y|²
};

/// Waits for it. `points`: N×3 as the caller gave them, on the GPU; without `with_moments` not looked at.
BoxTotals box_totals(const double* points, const double* strengths, int count, int exponent,
                     bool with_moments, cudaStream_t stream);

} // namespace farfield::cuda
