#include "sums/fmm/cuda/mirrored_kernel.cuh"

namespace farfield::cuda {

template class MirroredTranslation<float>;

} // namespace farfield::cuda
