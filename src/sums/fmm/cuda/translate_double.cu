// Translations in double.
#include "sums/fmm/cuda/translate_kernel.cuh"

namespace farfield::cuda {

template void translate(const TranslateTask<double>&, Pass, int, cudaStream_t);

} // namespace farfield::cuda
