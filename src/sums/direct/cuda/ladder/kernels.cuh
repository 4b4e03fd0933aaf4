// A kernel of a rung by its address, to launch it and to ask for its registers.
#pragma once

#include "sums/direct/cuda/launch.cuh"

namespace farfield::cuda {

constexpr int block_size = 256; // threads a block, and sources a tile of the rungs that have tiles

struct LadderKernel {
    const void* function = nullptr;
    int threads = block_size; ///< a block
};

/// The last rungs of the tiled kernel, each in an object with compiler options of its own.
template <class Real>
void launch_flush(const LadderTask<Real>& task, cudaStream_t stream);
template <class Real>
void launch_fast_math(const LadderTask<Real>& task, cudaStream_t stream);

/// The kernels that sum the field with softening.
template <class Real>
LadderKernel ladder_kernel(Rung rung);
template <class Real>
LadderKernel flush_kernel();
template <class Real>
LadderKernel fast_math_kernel();
LadderKernel handbook_kernel(Rung rung);

} // namespace farfield::cuda
