// Takes values from sparse grids, in double.
#include "sums/gauss/cuda/column_values.cuh"

namespace farfield::cuda {

template bool has_room_for_columns<double>(int);
template void take_values_of_columns(const ValueTask<double>&, const PointsInColumns<double>&, cudaStream_t);

} // namespace farfield::cuda
