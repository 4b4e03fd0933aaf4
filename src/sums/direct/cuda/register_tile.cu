// Launches the register-tile kernel: chooses the chunks and adds their partial sums.
#include "sums/direct/cuda/combine.cuh"
#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/register_tile.cuh"
#include "sums/direct/cuda/tuning.cuh"

#include <algorithm>

namespace farfield::cuda {

namespace {

constexpr int combine_threads = 128;
constexpr int wanted_blocks =
    16384; // some sixteen waves on the largest GPUs of today: the last, part-filled one is small
constexpr int longest_chunk = 128 * 1024; // keeps a chunk's float sums short
constexpr int most_chunks = 64;           // bounds the workspace to 64 partial sums a target

int chunk_for(int n_sources, int target_blocks, int tile) {
    const int chunks =
        std::clamp(std::max(wanted_blocks / target_blocks, n_sources / longest_chunk), 1, most_chunks);
    const int tiles = (n_sources + tile - 1) / tile;
    return std::max(1, (tiles + chunks - 1) / chunks) * tile;
}

template <class PointType, int outputs>
void launch_outputs(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream) {
    using Real = typename PointType::real;
    using Shape = typename RegisterTileTuning<PointType>::Shape;
    const int blocks = (task.n_targets + Shape::targets - 1) / Shape::targets;
    const int chunk = chunk_for(task.n_sources, blocks, Shape::tile);
    const int chunks = (task.n_sources + chunk - 1) / chunk;
    const long long stride = static_cast<long long>(blocks) * Shape::targets;
    auto* partials = static_cast<Vec4<Real>*>(
        workspace.reserve(static_cast<std::size_t>(chunks * stride) * sizeof(Vec4<Real>)));
    const RegisterTileTask<PointType> work{.sources = task.sources,
                                           .targets = task.targets,
                                           .n_sources = task.n_sources,
                                           .n_targets = task.n_targets,
                                           .self = task.sources == task.targets,
                                           .chunk = chunk,
                                           .softening2 = task.softening2,
                                           .partials = partials,
                                           .stride = stride};
    register_tile_kernel<PointType, outputs, Shape>
        <<<dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(chunks)), Shape::threads, 0, stream>>>(
            work);
    check_launch("launching the register-tile sum");
    const CombineTask<Real> combine{.partials = partials,
                                    .stride = stride,
                                    .slots = chunks,
                                    .n = task.n_targets,
                                    .totals = nullptr,
                                    .first = true,
                                    .last = true,
                                    .sums = task.sums};
    combine_kernel<<<(task.n_targets + combine_threads - 1) / combine_threads, combine_threads, 0, stream>>>(
        combine);
    check_launch("combining partial sums");
}

} // namespace

template <class PointType>
void launch_register_tile(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream) {
    switch (task.outputs) {
    case field_only:
        return launch_outputs<PointType, field_only>(task, workspace, stream);
    case potential_only:
        return launch_outputs<PointType, potential_only>(task, workspace, stream);
    default:
        return launch_outputs<PointType, field_and_potential>(task, workspace, stream);
    }
}

template void launch_register_tile(const PointTask<Point<float>>&, Workspace&, cudaStream_t);
template void launch_register_tile(const PointTask<Point<double>>&, Workspace&, cudaStream_t);
template void launch_register_tile(const PointTask<MixedPoint>&, Workspace&, cudaStream_t);

} // namespace farfield::cuda
