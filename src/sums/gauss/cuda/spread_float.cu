// Spreads points onto grids, in float.
#include "sums/gauss/cuda/spread.cuh"

namespace farfield::cuda {

template void spread_points(const SpreadTask<float>&, cudaStream_t);

} // namespace farfield::cuda
