// Sums over blocks in the plane, in float.
#include "sums/direct/cuda/blocks/plane_sum.cuh"

namespace farfield::cuda {

template void launch_plane_blocks(const BlockTask<float>&, const BlockPlanView&, PlaneSources, cudaStream_t);

} // namespace farfield::cuda
