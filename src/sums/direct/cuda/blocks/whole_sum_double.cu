// Dipoles and second derivatives over blocks in double.
#include "sums/direct/cuda/blocks/whole_kernel.cuh"

namespace farfield::cuda {

template void launch_whole_blocks(const WholeTask<double>&, cudaStream_t);

} // namespace farfield::cuda
