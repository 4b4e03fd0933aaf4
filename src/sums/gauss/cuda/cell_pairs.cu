// In up to three dimensions.
#include "sums/gauss/cuda/cell_pairs_kernel.cuh"

namespace farfield::cuda {

template void add_cell_pairs_in<3, float>(const CellPairTask&, cudaStream_t);
template void add_cell_pairs_in<3, double>(const CellPairTask&, cudaStream_t);

} // namespace farfield::cuda
