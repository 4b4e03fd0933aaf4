// The passes in float.
#include "sums/fmm/cuda/device_passes_impl.cuh"

namespace farfield::cuda {

template class DevicePasses<float>;

} // namespace farfield::cuda
