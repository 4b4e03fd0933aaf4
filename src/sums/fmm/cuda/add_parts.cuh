// Local expansions of the coarsest level, whose many senders several thread blocks share.
#pragma once

#include "sums/tree/cuda/launch.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// Parts of expansions one after the other, for the first `cells` of a list.
template <class Real>
__global__ void add_parts_kernel(const Real* partial, std::int64_t part_cells, int parts,
                                 const std::int32_t* list, int cells, int stride, Real* to) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= cells * stride) return;
    const std::int64_t at = std::int64_t{list[i / stride]} * stride + i % stride;
    Real sum = 0;
    for (int part = 0; part < parts; ++part) sum += partial[part * part_cells * stride + at];
    to[at] = sum;
}

/// @param partial  parts × part_cells expansions
template <class Real>
void add_parts(const Real* partial, std::int64_t part_cells, int parts, const std::int32_t* list, int cells,
               int stride, Real* to, cudaStream_t stream) {
    launch_over(std::int64_t{cells} * stride, stream, add_parts_kernel<Real>, partial, part_cells, parts,
                list, cells, stride, to);
}

} // namespace farfield::cuda
