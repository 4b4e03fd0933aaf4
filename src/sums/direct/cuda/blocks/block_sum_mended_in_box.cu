// Sums over blocks in float, in a periodic box, whose close pairs are mended.
#include "sums/direct/cuda/blocks/launch.cuh"

namespace farfield::cuda {

void launch_mended_in_box(const BlockTask<float>& task, const BlockPlanView& plan, cudaStream_t stream) {
    detail::launch_one_sided<float, Meeting::mended_in_box>(task, plan, stream);
}

} // namespace farfield::cuda
