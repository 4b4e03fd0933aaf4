// A caller's point in the frame.
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/points/prepared.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace farfield::cuda {

/// Of N×dimension coordinates, pairs of them aligned as such; those that there are not are 0.
__device__ inline Vec4<double> framed_point(const double* points, std::int64_t i, int dimension,
                                            const Frame& frame) {
    const auto framed = [&](double x, int axis) { return scalbn(x - frame.origin[axis], frame.exponent); };
    if (dimension == 2) {
        const auto at = reinterpret_cast<const double2*>(points)[i];
        return {framed(at.x, 0), framed(at.y, 1), 0.0, 0.0};
    }
    const double* const at = points + 3 * i;
    return {framed(at[0], 0), framed(at[1], 1), framed(at[2], 2), 0.0};
}

} // namespace farfield::cuda
