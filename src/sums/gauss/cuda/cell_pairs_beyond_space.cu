// In four to six dimensions.
#include "sums/gauss/cuda/cell_pairs_kernel.cuh"

namespace farfield::cuda {

template void add_cell_pairs_in<4, float>(const CellPairTask&, cudaStream_t);
template void add_cell_pairs_in<4, double>(const CellPairTask&, cudaStream_t);
template void add_cell_pairs_in<5, float>(const CellPairTask&, cudaStream_t);
template void add_cell_pairs_in<5, double>(const CellPairTask&, cudaStream_t);
template void add_cell_pairs_in<6, float>(const CellPairTask&, cudaStream_t);
template void add_cell_pairs_in<6, double>(const CellPairTask&, cudaStream_t);

} // namespace farfield::cuda
