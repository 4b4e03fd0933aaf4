// What the kernels for many targets at once share: their slots, which neighbours a tile has at all, and
// partial sums of splits, which are added in a fixed order.
#pragma once

#include "studies/fmm_strategies/real_form.h"
#include "studies/fmm_strategies/target_slots.h"

#include <cuda_runtime_api.h>

#include <cstddef>

namespace farfield::strategies {

/// Numbers of an expansion with padding: columns to whole chunks.
constexpr int tile_chunk = 16;
constexpr int padded_columns(int order) {
    return (real_size(order) + tile_chunk - 1) / tile_chunk * tile_chunk;
}
/// Rows of a block, and rows of all blocks.
constexpr int tile_rows(int order) { return real_size(order) <= 16 ? 16 : real_size(order) <= 32 ? 32 : 64; }
constexpr int padded_rows(int order) {
    return (real_size(order) + tile_rows(order) - 1) / tile_rows(order) * tile_rows(order);
}

template <class Real>
struct TileProblem {
    int order = 0;
    int slots = 0, splits = 1;
    const TargetSlot* slot = nullptr;
    const Real* omega = nullptr;    ///< boxes × padded_columns
    const Real* matrices = nullptr; ///< offsets × padded_columns × padded_rows; of `tiles` alone
    Real* partial = nullptr;        ///< splits × slots × padded_rows; or × real_size of `rotated`
    Real* mu = nullptr;             ///< slots × real_size
};

#if defined(__CUDACC__)
/// Neighbours that any target of a tile has, in `list`, as many as returned; `list` has 216 places. All
/// threads of the block take part.
__device__ inline int list_neighbours(const TargetSlot* tile, int targets, short* list) {
    __shared__ int count;
    __shared__ bool present[neighbours];
    for (int n = static_cast<int>(threadIdx.x); n < neighbours; n += static_cast<int>(blockDim.x)) {
        bool any = false;
        for (int t = 0; t < targets && !any; ++t) any = source_of(tile[t], n).source >= 0;
        present[n] = any;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int found = 0;
        for (int n = 0; n < neighbours; ++n)
            if (present[n]) list[found++] = static_cast<short>(n);
        count = found;
    }
    __syncthreads();
    return count;
}
#endif

/// How often the neighbours of a tile are divided among blocks.
int splits_for(int blocks);

template <class Real>
void make_matrices(const Complex<Real>* operators, int order, Real* matrices, cudaStream_t stream);
/// Half-stored moments of all boxes as real ones with padding.
template <class Real>
void make_real(const Complex<Real>* omega, int boxes, int order, Real* out, cudaStream_t stream);

template <class Real>
void enqueue_tiles(const TileProblem<Real>& problem, cudaStream_t stream);

template <class Real>
struct RotatedProblem {
    TileProblem<Real> tiles;
    const int* angle_of = nullptr; ///< as in RotationTables
    const Real *there = nullptr, *back = nullptr, *cosine = nullptr, *sine = nullptr, *along = nullptr;
};
template <class Real>
void enqueue_rotated(const RotatedProblem<Real>& problem, cudaStream_t stream);
/// Targets of a block.
template <class Real>
int rotated_targets(int order);

/// µ from the partial sums.
template <class Real>
void enqueue_sum_of_splits(const TileProblem<Real>& problem, int row_stride, cudaStream_t stream);

} // namespace farfield::strategies
