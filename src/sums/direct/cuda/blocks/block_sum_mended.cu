// Sums over blocks in float whose close pairs are mended.
#include "sums/direct/cuda/blocks/launch.cuh"

namespace farfield::cuda {

void launch_mended(const BlockTask<float>& task, const BlockPlanView& plan, cudaStream_t stream) {
    constexpr auto meeting = Meeting::mended;
    switch (task.outputs) {
    case field_only:
        return detail::launch_shape<float, field_only, meeting>(task, plan, nullptr, stream);
    case potential_only:
        return detail::launch_shape<float, potential_only, meeting>(task, plan, nullptr, stream);
    default:
        return detail::launch_shape<float, field_and_potential, meeting>(task, plan, nullptr, stream);
    }
}

} // namespace farfield::cuda
