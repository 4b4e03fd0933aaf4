// The rung `flush`, in an object that is compiled with -ftz=true, as the slides say suffices
// (../CMakeLists.txt).
#include "sums/direct/cuda/ladder/tiled.cuh"

namespace farfield::cuda {

template <class Real>
void launch_flush(const LadderTask<Real>& task, cudaStream_t stream) {
    launch_tiled<FlushRung>(task, stream);
}

template <class Real>
RungKernel flush_kernel() {
    return tiled_kernel_of_field<FlushRung, Real>();
}

template void launch_flush(const LadderTask<float>&, cudaStream_t);
template void launch_flush(const LadderTask<double>&, cudaStream_t);
template RungKernel flush_kernel<float>();
template RungKernel flush_kernel<double>();

} // namespace farfield::cuda
