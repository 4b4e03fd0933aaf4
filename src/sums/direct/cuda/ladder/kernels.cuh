// What the objects of the ladder share.
#pragma once

#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/rung_kernel.cuh"

namespace farfield::cuda {

constexpr int block_size = 256; // threads a block, and sources a tile of the rungs that have tiles

/// The last rungs of the tiled kernel, each in an object with compiler options of its own.
template <class Real>
void launch_flush(const LadderTask<Real>& task, cudaStream_t stream);
template <class Real>
void launch_fast_math(const LadderTask<Real>& task, cudaStream_t stream);

/// Their kernels, as rung_kernel.cuh has them.
template <class Real>
RungKernel flush_kernel();
template <class Real>
RungKernel fast_math_kernel();

} // namespace farfield::cuda
