// Folds grids, in double.
#include "sums/gauss/cuda/fold.cuh"

namespace farfield::cuda {

template RowsOfGrid<double> fold_grid(const FoldTask<double>&, const SpreadTask<double>&, cudaStream_t);
template double* fold_numbers(const FoldTask<double>&, cudaStream_t);

} // namespace farfield::cuda
