// Launches the symmetric kernel, slab by slab where the partial sums do not fit into one workspace.
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/combine.cuh"
#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/tuning.cuh"

#include <algorithm>

namespace farfield::cuda {

namespace {

constexpr int combine_threads = 128;

template <class PointType, int outputs, class Shape>
void launch_shape(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream) {
    using Real = typename PointType::real;
    const auto kernel = symmetric_kernel<PointType, outputs, Shape>;
    constexpr int shared_bytes = symmetric_shared_bytes<PointType, outputs, Shape>();
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
          "preparing the symmetric sum");

    const int n = task.n_sources;
    const int tiles = (n + Shape::tile - 1) / Shape::tile;
    const long long stride = static_cast<long long>(tiles) * Shape::tile;
    const auto slot_bytes = static_cast<long long>(stride * sizeof(Vec4<Real>));
    const int farthest = tiles / 2;
    const int per_slab = static_cast<int>(
        std::clamp(workspace_bytes / (2 * slot_bytes), 1LL, static_cast<long long>(farthest + 1)));
    const auto partial_bytes = std::min(2LL * per_slab, static_cast<long long>(tiles)) * slot_bytes;
    const bool several = per_slab <= farthest;
    auto* memory = static_cast<std::byte*>(workspace.reserve(static_cast<std::size_t>(partial_bytes) +
                                                             (several ? n * sizeof(Vec4<double>) : 0)));

    for (int first = farthest; first >= 0; first -= per_slab) {
        const int nearest = std::max(0, first - per_slab + 1);
        auto* partials = reinterpret_cast<Vec4<Real>*>(memory);
        const SymmetricTask<PointType> slab{.points = task.sources,
                                            .n = n,
                                            .tiles = tiles,
                                            .farthest = first,
                                            .nearest = nearest,
                                            .softening2 = task.softening2,
                                            .partials = partials};
        kernel<<<(first - nearest + 1) * tiles, Shape::threads, shared_bytes, stream>>>(slab);
        check_launch("launching the symmetric sum");
        const CombineTask<Real> combine{.partials = partials,
                                        .stride = stride,
                                        .slots = slots_of(nearest, first, tiles),
                                        .n = n,
                                        .totals = reinterpret_cast<Vec4<double>*>(memory + partial_bytes),
                                        .first = first == farthest,
                                        .last = nearest == 0,
                                        .sums = task.sums};
        combine_kernel<<<(n + combine_threads - 1) / combine_threads, combine_threads, 0, stream>>>(combine);
        check_launch("combining partial sums");
    }
}

template <class PointType, int outputs>
void launch_outputs(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream) {
    using Tuning = SymmetricTuning<PointType>;
    if (task.n_sources < Tuning::tiny_below)
        launch_shape<PointType, outputs, typename Tuning::Tiny>(task, workspace, stream);
    else if (task.n_sources < Tuning::small_below)
        launch_shape<PointType, outputs, typename Tuning::Small>(task, workspace, stream);
    else
        launch_shape<PointType, outputs, typename Tuning::Large>(task, workspace, stream);
}

} // namespace

template <class PointType>
void launch_symmetric(const PointTask<PointType>& task, Workspace& workspace, cudaStream_t stream) {
    switch (task.outputs) {
    case field_only:
        return launch_outputs<PointType, field_only>(task, workspace, stream);
    case potential_only:
        return launch_outputs<PointType, potential_only>(task, workspace, stream);
    default:
        return launch_outputs<PointType, field_and_potential>(task, workspace, stream);
    }
}

template void launch_symmetric(const PointTask<Point<float>>&, Workspace&, cudaStream_t);
template void launch_symmetric(const PointTask<Point<double>>&, Workspace&, cudaStream_t);
template void launch_symmetric(const PointTask<MixedPoint>&, Workspace&, cudaStream_t);

} // namespace farfield::cuda
