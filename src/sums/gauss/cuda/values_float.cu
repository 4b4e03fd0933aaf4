// Takes values from grids, in float.
#include "sums/gauss/cuda/values.cuh"

namespace farfield::cuda {

template void take_values(const ValueTask<float>&, cudaStream_t);

} // namespace farfield::cuda
