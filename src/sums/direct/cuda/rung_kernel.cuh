// The pair kernel of a rung by its address: what CUDA is asked about registers and blocks.
#pragma once

#include "sums/direct/cuda/pair.cuh"
#include "sums/direct/cuda/rungs.h"

namespace farfield::cuda {

/// A kernel that sums the field with softening, at many points.
struct RungKernel {
    const void* function = nullptr;
    int threads = 0;              ///< a block
    int dynamic_shared_bytes = 0; ///< a block
};

/// Rungs one-thread to fast-math, the Handbook's left out.
template <class Real>
RungKernel ladder_kernel(Rung rung);
RungKernel handbook_kernel(Rung rung);
template <class PointType>
RungKernel register_tile_rung_kernel();
template <class PointType>
RungKernel symmetric_rung_kernel();
RungKernel tensor_rung_kernel();

} // namespace farfield::cuda
