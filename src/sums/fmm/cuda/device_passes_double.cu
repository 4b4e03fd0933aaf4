// The passes in double.
#include "sums/fmm/cuda/device_passes_impl.cuh"

namespace farfield::cuda {

template class DevicePasses<double>;

} // namespace farfield::cuda
