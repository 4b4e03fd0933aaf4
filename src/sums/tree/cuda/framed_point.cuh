// A caller's point in the frame.
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/points/prepared.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace farfield::cuda {

/// Of N×dimension coordinates; those that there are not are 0.
__device__ inline Vec4<double> framed_point(const double* points, std::int64_t i, int dimension,
                                            const Frame& frame) {
    const auto at = [&](int k) {
        return scalbn(points[dimension * i + k] - frame.origin[k], frame.exponent);
    };
    return {at(0), at(1), dimension == 3 ? at(2) : 0.0, 0.0};
}

} // namespace farfield::cuda
