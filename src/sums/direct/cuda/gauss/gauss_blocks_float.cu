// Pairs of Gaussians in float, with coordinates of one float or of two.
#include "sums/direct/cuda/gauss/gauss_block_kernel.cuh"

namespace farfield::cuda {

template <>
void add_gauss_blocks(const GaussBlockTask<float>& task, cudaStream_t stream) {
    if (task.mixed)
        launch_gauss_blocks_from<float, true>(task, stream);
    else
        launch_gauss_blocks_from<float, false>(task, stream);
}

} // namespace farfield::cuda
