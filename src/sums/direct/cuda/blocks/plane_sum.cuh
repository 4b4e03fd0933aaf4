// Which kernel a sum over blocks in the plane takes. Included by one source for each type of number.
#pragma once

#include "sums/direct/cuda/blocks/launch.cuh"
#include "sums/direct/cuda/blocks/plane_pairs.cuh"
#include "sums/direct/cuda/blocks/plane_points_kernel.cuh"

#include <type_traits>

namespace farfield::cuda {
namespace detail {

template <bool is_complex, int outputs>
void launch_plane_points(const BlockTask<float>& task, const BlockPlanView& plan, cudaStream_t stream) {
    plane_points_kernel<is_complex, outputs>
        <<<static_cast<unsigned>(plan.item_count), 32, 0, stream>>>(task, plan.items);
    check_launch("the sum over blocks");
}

template <class Real, PlaneSources sources>
void launch_plane_outputs(const BlockTask<Real>& task, const BlockPlanView& plan, cudaStream_t stream) {
    using Formula = PlanePairs<sources>;
    if constexpr (std::is_same_v<Real, float> && sources != PlaneSources::cores) {
        constexpr bool is_complex = sources == PlaneSources::complex;
        if (task.outputs == field_only)
            return launch_plane_points<is_complex, field_only>(task, plan, stream);
        launch_plane_points<is_complex, field_and_potential>(task, plan, stream);
    } else {
        const auto launch = [&](auto meeting) {
            if (task.outputs == field_only)
                return launch_items<Formula, Real, field_only, 1, meeting.value>(task, plan, nullptr, stream);
            launch_items<Formula, Real, field_and_potential, 1, meeting.value>(task, plan, nullptr, stream);
        };
        constexpr auto meeting = std::is_same_v<Real, float> ? Meeting::mended : Meeting::one_sided;
        launch(std::integral_constant<Meeting, meeting>{});
    }
}

} // namespace detail

template <class Real>
void launch_plane_blocks(const BlockTask<Real>& task, const BlockPlanView& plan, PlaneSources sources,
                         cudaStream_t stream) {
    if (plan.item_count == 0) return;
    switch (sources) {
    case PlaneSources::real:
        return detail::launch_plane_outputs<Real, PlaneSources::real>(task, plan, stream);
    case PlaneSources::complex:
        return detail::launch_plane_outputs<Real, PlaneSources::complex>(task, plan, stream);
    case PlaneSources::cores:
        return detail::launch_plane_outputs<Real, PlaneSources::cores>(task, plan, stream);
    }
}

} // namespace farfield::cuda
