// Pairs of Gaussians in double.
#include "sums/direct/cuda/gauss/gauss_block_kernel.cuh"

namespace farfield::cuda {

template <>
void add_gauss_blocks(const GaussBlockTask<double>& task, cudaStream_t stream) {
    launch_gauss_blocks_from<double, false>(task, stream);
}

} // namespace farfield::cuda
