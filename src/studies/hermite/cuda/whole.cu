// The paper's first two kernels (4.2.1): a launch for each pair of a cluster and a box of targets, and one
// for all clusters, which are too many for its shared memory and stay in the GPU's. A thread has a target.
#include "studies/hermite/cuda/device_problem.cuh"
#include "studies/hermite/cuda/polynomials.cuh"

namespace farfield::hermite {
namespace {

constexpr int whole_threads = 256;

// The box begins with `first_target`. Its first cluster stores, others add.
template <int p>
__global__ __launch_bounds__(whole_threads) void pair_kernel(DeviceProblem at, int cluster,
                                                             int first_target) {
    __shared__ float moments[p * p];
    __shared__ int factorials[p];
    const auto thread = static_cast<int>(threadIdx.x);
    for (int k = thread; k < p * p; k += whole_threads) moments[k] = at.moments[cluster * p * p + k];
    if (thread < p) factorials[thread] = at.factorials[thread];
    __syncthreads();
    const int target = first_target + static_cast<int>(blockIdx.x) * whole_threads + thread;
    if (target >= at.targets) return;
    const float2 t = scaled_offset(at, at.points[target], at.centres[cluster]);
    const float value = series<p, false>(moments, factorials, hermite_polynomials<p>, t.x, t.y, at.terms);
    at.potentials[target] = cluster == 0 ? value : at.potentials[target] + value;
}

template <int p>
__global__ __launch_bounds__(whole_threads) void amalgamated_kernel(DeviceProblem at, int /*cluster*/,
                                                                    int /*first_target*/) {
    const int target = static_cast<int>(blockIdx.x) * whole_threads + static_cast<int>(threadIdx.x);
    if (target >= at.targets) return;
    const float2 point = at.points[target];
    float sum = 0;
    for (int cluster = 0; cluster < at.clusters; ++cluster) {
        const float2 t = scaled_offset(at, point, at.centres[cluster]);
        sum += series<p, false>(at.moments + cluster * p * p, at.factorials, hermite_polynomials<p>, t.x, t.y,
                                at.terms);
    }
    at.potentials[target] = sum;
}

template <int p>
Launch launch_of_pair() {
    static_assert(targets_a_box % whole_threads == 0);
    return launch_of(pair_kernel<p>, targets_a_box, whole_threads);
}

} // namespace

Launch pair_launch(int terms) {
    return terms == 5 ? launch_of_pair<5>() : terms == 9 ? launch_of_pair<9>() : launch_of_pair<12>();
}

Launch amalgamated_launch(int terms, std::int64_t targets) {
    return launch_of(terms == 5   ? amalgamated_kernel<5>
                     : terms == 9 ? amalgamated_kernel<9>
                                  : amalgamated_kernel<12>,
                     targets, whole_threads);
}

} // namespace farfield::hermite
