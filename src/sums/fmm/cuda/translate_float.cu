// Translations in float.
#include "sums/fmm/cuda/translate_kernel.cuh"

namespace farfield::cuda {

template void translate(const TranslateTask<float>&, Pass, int, cudaStream_t);

} // namespace farfield::cuda
