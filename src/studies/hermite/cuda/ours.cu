// Our kernel: a cluster is one polynomial in two variables (powers.h). A thread has several targets, and a
// coefficient that it reads from shared memory serves all of them, four coefficients to a read. Clusters come
// to shared memory some at a time, in one launch.
#include "math/pack.h"
#include "studies/hermite/cuda/device_problem.cuh"
#include "studies/hermite/powers.h"

namespace farfield::hermite {
namespace {

constexpr int our_threads = 128;
constexpr int clusters_at_a_time = 8;

template <int p>
struct Clusters {
    alignas(16) float powers[clusters_at_a_time * powers_of(p)];
    float2 centres[clusters_at_a_time];

    __device__ void read(const DeviceProblem& at, int first, int count) {
        const auto thread = static_cast<int>(threadIdx.x);
        const float* from = at.powers + first * powers_of(p);
        for (int k = thread; k < count * powers_of(p); k += our_threads) powers[k] = from[k];
        if (thread < count) centres[thread] = at.centres[first + thread];
    }
};

// Coefficients in order, four to a read.
template <int p>
struct Coefficients {
    const float* at;
    mutable float four[4]{};

    template <class V>
    __device__ __forceinline__ V read(int i) const {
        if (i % 4 == 0) {
            const float4 next = *reinterpret_cast<const float4*>(at + i);
            four[0] = next.x;
            four[1] = next.y;
            four[2] = next.z;
            four[3] = next.w;
        }
        return Ops<V>::set(four[i % 4]);
    }
};

template <int p, int each>
__global__ __launch_bounds__(our_threads) void ours_kernel(DeviceProblem at, int /*first_cluster*/,
                                                           int /*first_target*/) {
    using P = Pack<float, each>;
    __shared__ Clusters<p> clusters;
    const int first_target =
        static_cast<int>(blockIdx.x) * (our_threads * each) + static_cast<int>(threadIdx.x);
    const float exponent = -1.44269504f * at.inverse_width * at.inverse_width; // −log₂ e/2σ²
    P x, y, sum = P::all(0.0f);
#pragma unroll
    for (int n = 0; n < each; ++n) {
        const int target = first_target + n * our_threads;
        const float2 point = at.points[min(target, at.targets - 1)];
        x.v[n] = point.x;
        y.v[n] = point.y;
    }
    for (int first = 0; first < at.clusters; first += clusters_at_a_time) {
        const int count = min(clusters_at_a_time, at.clusters - first);
        __syncthreads(); // those before are done with
        clusters.read(at, first, count);
        __syncthreads();
#pragma unroll 1
        for (int cluster = 0; cluster < count; ++cluster) {
            const float2 centre = clusters.centres[cluster];
            const P t = x - P::all(centre.x), u = y - P::all(centre.y);
            const Coefficients<p> coefficients{clusters.powers + cluster * powers_of(p)};
            const P value = polynomial<p>(t, u, [&](int i) { return coefficients.template read<P>(i); });
            const P square = Ops<P>::fma(t, t, u * u);
#pragma unroll
            for (int n = 0; n < each; ++n)
                sum.v[n] = fmaf(value.v[n], exp2f(exponent * square.v[n]), sum.v[n]);
        }
    }
#pragma unroll
    for (int n = 0; n < each; ++n) {
        const int target = first_target + n * our_threads;
        if (target < at.targets) at.potentials[target] = sum.v[n];
    }
}

// Few targets are spread over more threads.
template <int p>
Launch ours_of(std::int64_t targets) {
    if (targets >= 1 << 18) return launch_of(ours_kernel<p, 4>, targets, our_threads, 4);
    if (targets >= 1 << 16) return launch_of(ours_kernel<p, 2>, targets, our_threads, 2);
    return launch_of(ours_kernel<p, 1>, targets, our_threads);
}

} // namespace

Launch ours_launch(int terms, std::int64_t targets) {
    return terms == 5 ? ours_of<5>(targets) : terms == 9 ? ours_of<9>(targets) : ours_of<12>(targets);
}

} // namespace farfield::hermite
