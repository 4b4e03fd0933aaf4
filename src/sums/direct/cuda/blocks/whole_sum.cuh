// Sums over blocks on a GPU of what is rare, dipoles and second derivatives (inverse_distance_whole.h).
#pragma once

#include "sums/direct/cuda/blocks/block_sum.cuh"

#include <cuda_runtime_api.h>

namespace farfield::cuda {

template <class Real>
struct WholeTask {
    BlockTask<Real> blocks; ///< with centres; `outputs` does not count: potential and field are always there
    int block_count = 0;
    const Vec4<Real>* dipoles = nullptr; ///< x, y, z of each source, or null
    double* hessians = nullptr;          ///< of each target xx, xy, xz, yy, yz, zz, or null
};

/// Stores the sums of all targets in blocks. One of dipoles and Hessians is there.
template <class Real>
void launch_whole_blocks(const WholeTask<Real>& task, cudaStream_t stream);

} // namespace farfield::cuda
