// A cell as walks on a GPU see it, in 64 bytes.
#pragma once

#include "backend/cuda/vec4.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace farfield::cuda {

/// What SourceCell has, and the strength of the monopole.
struct alignas(16) WalkCell {
    double centre[3];
    double strength; ///< Σ q
    float radius;
    float magnitude; ///< Σ|q|
    float field_reach, potential_reach;
    std::int32_t sources_begin, sources_end;
    std::int32_t first_child;
    std::int32_t children_and_level; ///< children, and the level above the lowest four bits

    [[nodiscard]] __device__ int children() const { return children_and_level & 15; }
    [[nodiscard]] __device__ int level() const { return children_and_level >> 4; }
    [[nodiscard]] __device__ int sources() const { return sources_end - sources_begin; }
};
static_assert(sizeof(WalkCell) == 64);

} // namespace farfield::cuda
