// The rung `fast-math`, in an object that is compiled with -use_fast_math, the flag of the slides
// (../CMakeLists.txt).
#include "sums/direct/cuda/ladder/tiled.cuh"

namespace farfield::cuda {

template <class Real>
void launch_fast_math(const LadderTask<Real>& task, cudaStream_t stream) {
    launch_tiled<FastMathRung>(task, stream);
}

template <class Real>
RungKernel fast_math_kernel() {
    return tiled_kernel_of_field<FastMathRung, Real>();
}

template void launch_fast_math(const LadderTask<float>&, cudaStream_t);
template void launch_fast_math(const LadderTask<double>&, cudaStream_t);
template RungKernel fast_math_kernel<float>();
template RungKernel fast_math_kernel<double>();

} // namespace farfield::cuda
