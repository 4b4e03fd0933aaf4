// Collects points on sparse grids, in float.
#include "sums/gauss/cuda/collect.cuh"

namespace farfield::cuda {

template void collect_points(const CollectTask<float>&, cudaStream_t);

} // namespace farfield::cuda
