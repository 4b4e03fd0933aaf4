// Launches the symmetric kernel: slab by slab where the partial sums do not fit into one workspace, and the
// tree of sums after each.
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/rung_kernel.cuh"
#include "sums/direct/cuda/tree_launch.cuh"
#include "sums/direct/cuda/tuning.cuh"

#include <algorithm>
#include <cstddef>

namespace farfield::cuda {

namespace {

constexpr int subtrees_threads = 128;

int tiles_of(int n, int tile) { return (n - 1) / tile + 1; }

// Calls action<outputs, Shape>() for the kernel that n points take.
template <class PointType, int outputs, class Action>
void with_shape(int n, Action&& action) {
    using Tuning = SymmetricTuning<PointType>;
    if (n < Tuning::tiny_below)
        action.template operator()<outputs, typename Tuning::Tiny>();
    else if (n < Tuning::small_below)
        action.template operator()<outputs, typename Tuning::Small>();
    else
        action.template operator()<outputs, typename Tuning::Large>();
}

template <class PointType, class Action>
void with_kernel(int outputs, int n, Action&& action) {
    switch (outputs) {
    case field_only:
        return with_shape<PointType, field_only>(n, action);
    case potential_only:
        return with_shape<PointType, potential_only>(n, action);
    default:
        return with_shape<PointType, field_and_potential>(n, action);
    }
}

template <class PointType>
int tile_for(int n) {
    int tile = 0;
    with_shape<PointType, field_only>(n, [&]<int, class Shape>() { tile = Shape::tile; });
    return tile;
}

template <class PointType>
std::size_t slot_bytes(int n) {
    const auto tile = static_cast<std::size_t>(tile_for<PointType>(n));
    return static_cast<std::size_t>(tiles_of(n, static_cast<int>(tile))) * tile *
           sizeof(Vec4<typename PointType::real>);
}

template <class PointType>
std::size_t bytes_of(int n, const Share& share) {
    return slot_bytes<PointType>(n) * static_cast<std::size_t>(share.slots);
}

template <class PointType, int outputs, class Shape>
void launch_shape(const PointTask<PointType>& task, const Share& share, void* workspace, Vec4<double>* stack,
                  cudaStream_t stream) {
    using Real = typename PointType::real;
    constexpr int shared_bytes = symmetric_shared_bytes<PointType, outputs, Shape>();
    const int tiles = share.ring.tiles;
    auto* partials = static_cast<Vec4<Real>*>(workspace);
    for (const auto& slab : share.slabs) {
        const SymmetricTask<PointType> work{.points = task.sources,
                                            .n = task.n_sources,
                                            .tiles = tiles,
                                            .farthest = slab.farthest,
                                            .nearest = slab.nearest,
                                            .softening2 = task.softening2,
                                            .partials = partials};
        const auto blocks = static_cast<unsigned>((slab.farthest - slab.nearest + 1) * tiles);
        symmetric_kernel<PointType, outputs, Shape><<<blocks, Shape::threads, shared_bytes, stream>>>(work);
        check_launch("launching the symmetric sum");
        launch_pieces<Real>(slab,
                            {.partials = partials,
                             .stride = static_cast<long long>(tiles) * Shape::tile,
                             .slab_nearest = slab.nearest,
                             .ring = share.ring,
                             .piece = {},
                             .n = task.n_sources,
                             .stack = stack,
                             .sums = task.sums},
                            stream);
    }
}

// Lets the pair kernel for this task have its shared memory on the current GPU.
template <class PointType>
void allow_shared_memory(const PointTask<PointType>& task) {
    with_kernel<PointType>(task.outputs, task.n_sources, [&]<int outputs, class Shape>() {
        const auto kernel = symmetric_kernel<PointType, outputs, Shape>;
        constexpr int shared_bytes = symmetric_shared_bytes<PointType, outputs, Shape>();
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
              "preparing the symmetric sum");
    });
}

// Makes a kernel known to the current GPU.
template <class Kernel>
void load(Kernel kernel) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "loading the symmetric sum");
}

} // namespace

template <class PointType>
Share symmetric_share(int n, int part, int parts) {
    const auto ring = ring_of(tiles_of(n, tile_for<PointType>(n)));
    const auto fit = static_cast<long long>(workspace_bytes / slot_bytes<PointType>(n));
    return share_of(ring, part, parts, static_cast<int>(std::clamp<long long>(fit, 2, 2 * ring.distances())));
}

template <class PointType>
void prepare_symmetric(const PointTask<PointType>& task, const Share& share, Workspace& workspace) {
    allow_shared_memory(task);
    using Real = typename PointType::real;
    load(piece_kernel<Real, tree_warps_for_few>);
    load(piece_kernel<Real, tree_warps_for_many>);
    load(subtrees_kernel<Real>);
    workspace.reserve(bytes_of<PointType>(task.n_sources, share));
}

template <class PointType>
void launch_symmetric_share(const PointTask<PointType>& task, const Share& share, Workspace& workspace,
                            Vec4<double>* stack, cudaStream_t stream) {
    void* memory = workspace.reserve(bytes_of<PointType>(task.n_sources, share));
    with_kernel<PointType>(task.outputs, task.n_sources, [&]<int outputs, class Shape>() {
        launch_shape<PointType, outputs, Shape>(task, share, memory, stack, stream);
    });
}

template <class PointType>
void launch_symmetric(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream) {
    const auto share = symmetric_share<PointType>(task.n_sources, 0, 1);
    const auto bytes = bytes_of<PointType>(task.n_sources, share);
    const auto stack_bytes = static_cast<std::size_t>(share.depth) *
                             static_cast<std::size_t>(task.n_sources) * sizeof(Vec4<double>);
    auto* memory = static_cast<std::byte*>(workspace.reserve(bytes + stack_bytes));
    allow_shared_memory(task);
    launch_symmetric_share(task, share, workspace, reinterpret_cast<Vec4<double>*>(memory + bytes), stream);
}

template <class Real>
void launch_subtrees(const std::vector<const Vec4<double>*>& node, const std::vector<Subtree>& subtrees,
                     int n, Vec4<Real>* sums, cudaStream_t stream) {
    if (n == 0) return;
    SubtreesTask<Real> task{};
    task.count = static_cast<int>(node.size());
    task.n = n;
    task.sums = sums;
    const auto merges = merges_of(subtrees);
    for (std::size_t k = 0; k < node.size(); ++k) {
        task.subtree[k] = node[k];
        task.merges[k] = static_cast<unsigned char>(merges[k]);
    }
    const auto blocks = static_cast<unsigned>((n - 1) / subtrees_threads + 1);
    subtrees_kernel<<<blocks, subtrees_threads, 0, stream>>>(task);
    check_launch("combining the sums of several GPUs");
}

template <class PointType>
RungKernel symmetric_rung_kernel() {
    using Shape = typename SymmetricTuning<PointType>::Large;
    return {reinterpret_cast<const void*>(&symmetric_kernel<PointType, field_only, Shape>), Shape::threads,
            symmetric_shared_bytes<PointType, field_only, Shape>()};
}

#define FF_INSTANTIATE(PointType)                                                                            \
    template RungKernel symmetric_rung_kernel<PointType>();                                                  \
    template Share symmetric_share<PointType>(int, int, int);                                                \
    template void prepare_symmetric(const PointTask<PointType>&, const Share&, Workspace&);                  \
    template void launch_symmetric_share(const PointTask<PointType>&, const Share&, Workspace&,              \
                                         Vec4<double>*, cudaStream_t);                                       \
    template void launch_symmetric(const PointTask<PointType>&, Workspace&, cudaStream_t);
FF_INSTANTIATE(Point<float>)
FF_INSTANTIATE(Point<double>)
FF_INSTANTIATE(MixedPoint)
#undef FF_INSTANTIATE

template void launch_subtrees(const std::vector<const Vec4<double>*>&, const std::vector<Subtree>&, int,
                              Vec4<float>*, cudaStream_t);
template void launch_subtrees(const std::vector<const Vec4<double>*>&, const std::vector<Subtree>&, int,
                              Vec4<double>*, cudaStream_t);

} // namespace farfield::cuda
