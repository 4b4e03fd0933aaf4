// Launches of the tree of sums (tree.cuh) after each slab of a sum of tiles around a ring.
#pragma once

#include "backend/cuda/check.h"
#include "sums/direct/cuda/tree.cuh"

#include <cuda_runtime_api.h>

#include <algorithm>

namespace farfield::cuda {

template <class Real, int most_warps>
void launch_piece(const PieceTask<Real>& task, cudaStream_t stream) {
    const auto warps = static_cast<unsigned>(std::min(task.piece.subtree.groups, most_warps));
    const auto blocks = static_cast<unsigned>((task.n - 1) / 32 + 1);
    piece_kernel<Real, most_warps><<<blocks, dim3(32, warps), 0, stream>>>(task);
    check_launch("combining partial sums");
}

/// The pieces of a slab in turn; `task.piece` is filled in here.
template <class Real>
void launch_pieces(const Slab& slab, PieceTask<Real> task, cudaStream_t stream) {
    for (const auto& piece : slab.pieces) {
        task.piece = piece;
        if (task.n <= few_bodies)
            launch_piece<Real, tree_warps_for_few>(task, stream);
        else
            launch_piece<Real, tree_warps_for_many>(task, stream);
    }
}

} // namespace farfield::cuda
