// Launches the register-tile kernel: chooses the chunks and adds their partial sums.
#include "sums/direct/cuda/combine.cuh"
#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/register_tile.cuh"
#include "sums/direct/cuda/rung_kernel.cuh"
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

// How a task is cut into blocks and chunks; chunks depend on all targets, so that a target's sum does not
// depend on how many GPUs share the targets.
template <class PointType>
struct Cut {
    using Real = typename PointType::real;
    using Shape = typename RegisterTileTuning<PointType>::Shape;

    explicit Cut(const PointTask<PointType>& task)
        : blocks(blocks_for(task.n_targets)),
          chunk(
              chunk_for(task.n_sources, blocks_for(std::max(task.n_targets, task.all_targets)), Shape::tile)),
          chunks((task.n_sources + chunk - 1) / chunk),
          stride(static_cast<long long>(blocks) * Shape::targets) {}

    [[nodiscard]] std::size_t bytes() const {
        return static_cast<std::size_t>(chunks * stride) * sizeof(Vec4<Real>);
    }
    static int blocks_for(int targets) { return (targets + Shape::targets - 1) / Shape::targets; }

    int blocks, chunk, chunks;
    long long stride;
};

template <class PointType, int outputs>
void launch_outputs(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream) {
    using Real = typename PointType::real;
    using Shape = typename RegisterTileTuning<PointType>::Shape;
    const Cut<PointType> cut(task);
    auto* partials = static_cast<Vec4<Real>*>(workspace.reserve(cut.bytes()));
    const bool self = task.targets == task.sources + task.first_target;
    const RegisterTileTask<PointType> work{.sources = task.sources,
                                           .targets = task.targets,
                                           .n_sources = task.n_sources,
                                           .n_targets = task.n_targets,
                                           .first_target = self ? task.first_target : -1,
                                           .chunk = cut.chunk,
                                           .softening2 = task.softening2,
                                           .partials = partials,
                                           .stride = cut.stride};
    const dim3 grid(static_cast<unsigned>(cut.blocks), static_cast<unsigned>(cut.chunks));
    register_tile_kernel<PointType, outputs, Shape><<<grid, Shape::threads, 0, stream>>>(work);
    check_launch("launching the register-tile sum");
    const CombineTask<Real> combine{.partials = partials,
                                    .stride = cut.stride,
                                    .slots = cut.chunks,
                                    .n = task.n_targets,
                                    .sums = task.sums};
    combine_kernel<<<(task.n_targets + combine_threads - 1) / combine_threads, combine_threads, 0, stream>>>(
        combine);
    check_launch("combining partial sums");
}

template <class PointType, int outputs>
const void* kernel_of() {
    using Shape = typename RegisterTileTuning<PointType>::Shape;
    return reinterpret_cast<const void*>(&register_tile_kernel<PointType, outputs, Shape>);
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

template <class PointType>
void prepare_register_tile(const PointTask<PointType>& task, Workspace& workspace) {
    const void* kernels[] = {kernel_of<PointType, field_only>(), kernel_of<PointType, potential_only>(),
                             kernel_of<PointType, field_and_potential>(),
                             reinterpret_cast<const void*>(&combine_kernel<typename PointType::real>)};
    cudaFuncAttributes attributes{};
    for (const void* kernel : kernels)
        check(cudaFuncGetAttributes(&attributes, kernel), "loading the register-tile sum");
    workspace.reserve(Cut<PointType>(task).bytes());
}

template <class PointType>
RungKernel register_tile_rung_kernel() {
    return {kernel_of<PointType, field_only>(), RegisterTileTuning<PointType>::Shape::threads};
}

template RungKernel register_tile_rung_kernel<Point<float>>();
template RungKernel register_tile_rung_kernel<Point<double>>();
template RungKernel register_tile_rung_kernel<MixedPoint>();

template void launch_register_tile(const PointTask<Point<float>>&, Workspace&, cudaStream_t);
template void launch_register_tile(const PointTask<Point<double>>&, Workspace&, cudaStream_t);
template void launch_register_tile(const PointTask<MixedPoint>&, Workspace&, cudaStream_t);

template void prepare_register_tile(const PointTask<Point<float>>&, Workspace&);
template void prepare_register_tile(const PointTask<Point<double>>&, Workspace&);
template void prepare_register_tile(const PointTask<MixedPoint>&, Workspace&);

} // namespace farfield::cuda
