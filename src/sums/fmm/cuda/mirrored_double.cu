#include "sums/fmm/cuda/mirrored_impl.cuh"

namespace farfield::cuda {

template class MirroredTranslation<double>;

} // namespace farfield::cuda
