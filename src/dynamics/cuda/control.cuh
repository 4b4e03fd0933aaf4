// What a simulation on a GPU keeps beside its bodies: the frame of the next evaluation, and the first one
// that failed. Kernels read and write it; the host gets copies.
#pragma once

#include "dynamics/integrators/motion_formulas.h"
#include "sums/points/axis_origin.h"

#include <cstdint>

namespace farfield::cuda {

constexpr unsigned long long no_failure = ~0ULL;

/// The frame of one evaluation is chosen from the places of the evaluation before it, as they were packed:
/// known when points are packed, without a pass of its own, and the same after a restart from `used`.
struct Control {
    double origin[3]; ///< of the next evaluation
    double used[3];   ///< of the last one
    unsigned long long evaluations;
    unsigned long long failure; ///< number of the first evaluation with a result that is not finite
    unsigned low[3], high[3];   ///< extremes of the packed coordinates while they are being found
    unsigned blocks_done;
};

/// Floats as integers in the same order, for atomicMin and atomicMax. Extremes do not depend on who comes
/// first.
__device__ __forceinline__ unsigned ordered(float value) {
    const unsigned bits = __float_as_uint(value);
    return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ __forceinline__ float from_ordered(unsigned bits) {
    return __uint_as_float((bits & 0x80000000U) != 0 ? bits & 0x7FFFFFFFU : ~bits);
}

/// The origin of the next evaluation from the extremes of the last one, in its frame.
__device__ __forceinline__ double next_origin(double origin, double low, double high, double unscale) {
    return axis_origin(add_scaled(origin, unscale, low), add_scaled(origin, unscale, high));
}

__device__ __forceinline__ bool is_finite(double value) {
    return (__double2hiint(value) & 0x7FF00000) != 0x7FF00000;
}

} // namespace farfield::cuda
