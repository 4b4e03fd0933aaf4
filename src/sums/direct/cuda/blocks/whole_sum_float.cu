// Dipoles and second derivatives over blocks in float.
#include "sums/direct/cuda/blocks/whole_kernel.cuh"

namespace farfield::cuda {

template void launch_whole_blocks(const WholeTask<float>&, cudaStream_t);

} // namespace farfield::cuda
