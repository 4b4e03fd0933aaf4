// Takes values from sparse grids, in float.
#include "sums/gauss/cuda/column_values.cuh"

namespace farfield::cuda {

template bool has_room_for_columns<float>(int);
template void take_values_of_columns(const ValueTask<float>&, const PointsInColumns<float>&, cudaStream_t);

} // namespace farfield::cuda
