// Spreads points onto grids, in double.
#include "sums/gauss/cuda/spread.cuh"

namespace farfield::cuda {

template void spread_points(const SpreadTask<double>&, cudaStream_t);

} // namespace farfield::cuda
