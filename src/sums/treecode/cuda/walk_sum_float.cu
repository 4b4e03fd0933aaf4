#include "sums/treecode/cuda/walk_kernel.cuh"

namespace farfield::cuda {

void walk_sum(const WalkTask<float>& task, cudaStream_t stream) {
    if (task.mends)
        launch_order<float, MixedPoint>(task, stream);
    else
        launch_order<float, Point<float>>(task, stream);
}

} // namespace farfield::cuda
