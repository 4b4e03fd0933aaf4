// Which kernel a sum over blocks takes. Included by one source for each type of number: they compile for
// minutes, side by side.
#pragma once

#include "backend/cuda/check.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/blocks/block_kernel.cuh"
#include "sums/direct/cuda/blocks/space_pairs.cuh"

#include <farfield/error.h>

#include <type_traits>

namespace farfield::cuda {
namespace detail {

template <class Formula, class Real, int outputs, int warps, Meeting meeting>
void launch_items(const BlockTask<Real>& task, const BlockPlanView& plan, Vec4<Real>* slots,
                  cudaStream_t stream) {
    if (plan.shape.most_per_lane > Formula::largest_tile(sizeof(Real), warps))
        throw InternalError("a plan over blocks with tiles that its kernel does not have");
    block_kernel<Real, outputs, warps, meeting, Formula>
        <<<static_cast<unsigned>(plan.item_count), 32 * warps, 0, stream>>>(task, plan, slots);
    check_launch("the sum over blocks");
}

template <class Real, int outputs, Meeting meeting>
void launch_shape(const BlockTask<Real>& task, const BlockPlanView& plan, Vec4<Real>* slots,
                  cudaStream_t stream) {
    switch (plan.shape.warps) {
    case 1:
        return launch_items<SpacePairs, Real, outputs, 1, meeting>(task, plan, slots, stream);
    case 2:
        return launch_items<SpacePairs, Real, outputs, 2, meeting>(task, plan, slots, stream);
    case 4:
        return launch_items<SpacePairs, Real, outputs, 4, meeting>(task, plan, slots, stream);
    default:
        throw InternalError("a plan over blocks for a number of warps that no kernel has");
    }
}

template <class Real, int outputs>
void launch_outputs(const BlockTask<Real>& task, const BlockPlanView& plan, Vec4<Real>* slots,
                    cudaStream_t stream) {
    if (!plan.mutual) return launch_shape<Real, outputs, Meeting::one_sided>(task, plan, slots, stream);
    launch_shape<Real, outputs, Meeting::mutual>(task, plan, slots, stream);
    const int blocks_a_block = gather_threads / 32;
    gather_kernel<<<static_cast<unsigned>((plan.block_count + blocks_a_block - 1) / blocks_a_block),
                    gather_threads, 0, stream>>>(task, plan, static_cast<const Vec4<Real>*>(slots));
    check_launch("adding up the sum over blocks");
}

/// A one-sided plan, for any outputs.
template <class Real, Meeting meeting>
void launch_one_sided(const BlockTask<Real>& task, const BlockPlanView& plan, cudaStream_t stream) {
    switch (task.outputs) {
    case field_only:
        return launch_shape<Real, field_only, meeting>(task, plan, nullptr, stream);
    case potential_only:
        return launch_shape<Real, potential_only, meeting>(task, plan, nullptr, stream);
    default:
        return launch_shape<Real, field_and_potential, meeting>(task, plan, nullptr, stream);
    }
}

} // namespace detail

/// A one-sided sum whose close pairs are mended (BlockTask::exact_sources).
void launch_mended(const BlockTask<float>& task, const BlockPlanView& plan, cudaStream_t stream);
void launch_mended_in_box(const BlockTask<float>& task, const BlockPlanView& plan, cudaStream_t stream);

template <class Real>
void launch_blocks(const BlockTask<Real>& task, const BlockPlanView& plan, Vec4<Real>* slots,
                   cudaStream_t stream) {
    if (plan.item_count == 0) return;
    if constexpr (std::is_same_v<Real, float>)
        if (task.exact_sources != nullptr)
            return task.period > 0.0 ? launch_mended_in_box(task, plan, stream)
                                     : launch_mended(task, plan, stream);
    switch (task.outputs) {
    case field_only:
        return detail::launch_outputs<Real, field_only>(task, plan, slots, stream);
    case potential_only:
        return detail::launch_outputs<Real, potential_only>(task, plan, slots, stream);
    default:
        return detail::launch_outputs<Real, field_and_potential>(task, plan, slots, stream);
    }
}

} // namespace farfield::cuda
