// Takes values from grids, in double.
#include "sums/gauss/cuda/values.cuh"

namespace farfield::cuda {

template void take_values(const ValueTask<double>&, cudaStream_t);

} // namespace farfield::cuda
