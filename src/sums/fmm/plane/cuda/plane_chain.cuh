// Several stages of passes over expansions in one launch, whose blocks meet between them.
#pragma once

#include "sums/fmm/plane/cuda/plane_far.cuh"
#include "sums/fmm/plane/cuda/plane_senders.cuh"

#include <cooperative_groups.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace farfield::cuda {

/// The tiles of a stage, each warp of the launch every so manieth: body(run, tile).
template <class Body>
__device__ __forceinline__ void each_tile(const PlaneChainTask& task, const PlaneStage& stage,
                                          const Body& body) {
    const int warps = static_cast<int>(gridDim.x * blockDim.y);
    for (int tile = static_cast<int>(threadIdx.y * gridDim.x + blockIdx.x); tile < stage.tiles;
         tile += warps) {
        body(run_of(task.run + stage.first_run, stage.runs, tile), tile);
        __syncwarp();
    }
}

/// Calls body(pass, stage, operator, cells that the pass counts) for one stage after another; passes are
/// std::integral_constant.
template <class Body>
__device__ __forceinline__ void each_stage(const PlaneChainTask& task, const Body& body) {
    for (int s = 0; s < task.stages; ++s) {
        const auto& stage = task.stage[s];
        if (s > 0) cooperative_groups::this_grid().sync();
        switch (stage.pass) {
        case PlanePass::up:
            body(std::integral_constant<PlanePass, PlanePass::up>{}, stage, task.up,
                 static_cast<const std::int32_t*>(nullptr));
            break;
        case PlanePass::across:
            body(std::integral_constant<PlanePass, PlanePass::across>{}, stage, task.across, task.cells);
            break;
        case PlanePass::down:
            body(std::integral_constant<PlanePass, PlanePass::down>{}, stage, task.down, task.cells);
            break;
        }
    }
}

/// @param kernel  of blocks of 32×`warps` threads, takes the task
void launch_plane_chain(const void* kernel, int warps, std::size_t shared_bytes, const PlaneChainTask& task,
                        cudaStream_t stream);

} // namespace farfield::cuda
