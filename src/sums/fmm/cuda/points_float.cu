// Points and expansions in float.
#include "sums/fmm/cuda/dipoles_kernel.cuh"
#include "sums/fmm/cuda/points_kernel.cuh"

namespace farfield::cuda {

template void form_multipoles(const PointsToExpansions<float>&, cudaStream_t);
template void add_points(const PointsToExpansions<float>&, cudaStream_t);
template void add_dipoles(const PointsToExpansions<float>&, bool, cudaStream_t);
template void evaluate_locals(const ExpansionsToPoints<float>&, cudaStream_t);
template void evaluate_multipoles(const ExpansionsToPoints<float>&, cudaStream_t);

} // namespace farfield::cuda
