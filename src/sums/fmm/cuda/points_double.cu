// Points and expansions in double.
#include "sums/fmm/cuda/dipoles_kernel.cuh"
#include "sums/fmm/cuda/points_kernel.cuh"

namespace farfield::cuda {

template void form_multipoles(const PointsToExpansions<double>&, cudaStream_t);
template void add_points(const PointsToExpansions<double>&, cudaStream_t);
template void add_dipoles(const PointsToExpansions<double>&, bool, cudaStream_t);
template void evaluate_locals(const ExpansionsToPoints<double>&, cudaStream_t);
template void evaluate_multipoles(const ExpansionsToPoints<double>&, cudaStream_t);

} // namespace farfield::cuda
