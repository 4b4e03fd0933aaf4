// Sums over blocks in float whose close pairs are mended.
#include "sums/direct/cuda/blocks/launch.cuh"

namespace farfield::cuda {

void launch_mended(const BlockTask<float>& task, const BlockPlanView& plan, cudaStream_t stream) {
    detail::launch_one_sided<float, Meeting::mended>(task, plan, stream);
}

} // namespace farfield::cuda
