// M2M, M2L and L2L of low orders in the plane (PlaneWhole), for plane_shifts.cu.
#pragma once

#include "sums/fmm/plane/cuda/plane_far.cuh"

#include <cuda_runtime_api.h>

namespace farfield::cuda {

/// As `shift_plane_expansions` and `run_plane_chain`, where operators have whole matrices.
void shift_whole_expansions(const PlaneShiftTask& task, PlanePass pass, cudaStream_t stream);
void run_whole_chain(const PlaneChainTask& task, cudaStream_t stream);

} // namespace farfield::cuda
