#include "sums/treecode/cuda/walk_kernel.cuh"

namespace farfield::cuda {

void walk_sum(const WalkTask<double>& task, cudaStream_t stream) {
    launch_order<double, Point<double>>(task, stream);
}

} // namespace farfield::cuda
