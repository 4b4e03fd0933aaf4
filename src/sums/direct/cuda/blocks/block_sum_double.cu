// Sums over blocks in double.
#include "sums/direct/cuda/blocks/launch.cuh"

namespace farfield::cuda {

template void launch_blocks(const BlockTask<double>&, const BlockPlanView&, Vec4<double>*, cudaStream_t);

} // namespace farfield::cuda
