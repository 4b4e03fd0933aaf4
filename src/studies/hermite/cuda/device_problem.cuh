// What the kernels of all variants see, and what launches them.
#pragma once

#include "backend/cuda/check.h"
#include "studies/hermite/evaluations.h"

#include <cuda_runtime_api.h>

namespace farfield::hermite {

struct DeviceProblem {
    int targets, clusters;
    int terms;           ///< p, for the loops that learn it when they run
    float inverse_width; ///< 1/√2σ
    const float2* points;
    const float2* centres;
    const float* moments; ///< M_α of series.h: clusters × [a][b]
    const int* factorials;
    const float* powers; ///< of powers.h: clusters × powers_of(p)
    float* potentials;
};

/// t = (y − s)/√2σ.
__device__ inline float2 scaled_offset(const DeviceProblem& at, float2 point, float2 centre) {
    return {(point.x - centre.x) * at.inverse_width, (point.y - centre.y) * at.inverse_width};
}

/// A kernel as CUDA's runtime knows it, and how it is launched. All take (DeviceProblem, first cluster, first
/// target).
struct Launch {
    const void* function = nullptr;
    unsigned blocks = 0, threads = 0;
    int first_cluster = 0, first_target = 0;
};
using Kernel = void(DeviceProblem, int, int);

inline Launch launch_of(Kernel* kernel, std::int64_t targets, int threads, int targets_a_thread = 1) {
    const auto a_block = static_cast<std::int64_t>(threads) * targets_a_thread;
    return {reinterpret_cast<const void*>(kernel), static_cast<unsigned>((targets + a_block - 1) / a_block),
            static_cast<unsigned>(threads)};
}

/// A launch of each, for p = 5, 9 or 12: of a pair of boxes, of all, of a chunk of clusters, of all.
Launch pair_launch(int terms);
Launch amalgamated_launch(int terms, std::int64_t targets);
Launch chunk_launch(Variant variant, int terms, std::int64_t targets);
Launch ours_launch(int terms, std::int64_t targets);

} // namespace farfield::hermite
