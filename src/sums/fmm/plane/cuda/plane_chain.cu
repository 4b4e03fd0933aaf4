#include "sums/fmm/plane/cuda/plane_chain.cuh"

#include "backend/cuda/check.h"

#include <algorithm>

namespace farfield::cuda {

void launch_plane_chain(const void* kernel, int warps, std::size_t shared_bytes, const PlaneChainTask& task,
                        cudaStream_t stream) {
    constexpr int most_blocks = 3; // of a multiprocessor: stages are short, and meet
    if (shared_bytes > 48 * 1024 - static_cast<std::size_t>(warps) * sizeof(Columns<>))
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes)),
              "asking for shared memory");
    int device = 0, multiprocessors = 0, resident = 0;
    check(cudaGetDevice(&device), "asking for the GPU in use");
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking the GPU");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, 32 * warps, shared_bytes),
          "asking the GPU");
    int tiles = 1;
    for (int s = 0; s < task.stages; ++s) tiles = std::max(tiles, task.stage[s].tiles);
    const int blocks =
        std::min((tiles + warps - 1) / warps, multiprocessors * std::min(resident, most_blocks));
    void* arguments[] = {const_cast<PlaneChainTask*>(&task)}; // NOLINT(cppcoreguidelines-pro-type-const-cast)
    check(cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(blocks)),
                                      dim3(32, static_cast<unsigned>(warps)), arguments, shared_bytes,
                                      stream),
          "shifting expansions");
}

} // namespace farfield::cuda
