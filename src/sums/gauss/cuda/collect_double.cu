// Collects points on sparse grids, in double.
#include "sums/gauss/cuda/collect.cuh"

namespace farfield::cuda {

template void collect_points(const CollectTask<double>&, cudaStream_t);

} // namespace farfield::cuda
