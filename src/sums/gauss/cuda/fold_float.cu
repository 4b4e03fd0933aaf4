// Folds grids, in float.
#include "sums/gauss/cuda/fold.cuh"

namespace farfield::cuda {

template RowsOfGrid<float> fold_grid(const FoldTask<float>&, const SpreadTask<float>&, cudaStream_t);
template float* fold_numbers(const FoldTask<float>&, cudaStream_t);

} // namespace farfield::cuda
