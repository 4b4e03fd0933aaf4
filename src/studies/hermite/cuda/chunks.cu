// The paper's kernels with chunks of clusters in shared memory, a launch each: Horner's rule in a loop or
// unrolled, and four ways to read a chunk. A thread has a target.
#include "studies/hermite/cuda/device_problem.cuh"
#include "studies/hermite/cuda/polynomials.cuh"

#include <farfield/error.h>

namespace farfield::hermite {
namespace {

template <int p, int clusters>
struct Chunk {
    static constexpr int most = clusters;
    float2 centres[most];
    float moments[most * p * p];
    int factorials[p];

    static_assert(most > 0 && 4 * (p + most * (p * p + 2)) <= paper_shared_bytes);
};

// All threads read, several numbers each.
template <int p, class AnyChunk>
__device__ void read_in_turns(const DeviceProblem& at, int first, int count, AnyChunk& chunk) {
    const auto thread = static_cast<int>(threadIdx.x);
    for (int k = thread; k < count * p * p; k += paper_threads)
        chunk.moments[k] = at.moments[first * p * p + k];
    if (thread < count) chunk.centres[thread] = at.centres[first + thread];
    if (thread < p) chunk.factorials[thread] = at.factorials[thread];
}

// Some threads read much: a cluster each; the others wait.
template <int p, class AnyChunk>
__device__ void read_by_cluster(const DeviceProblem& at, int first, int count, AnyChunk& chunk) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread < count) {
        for (int k = 0; k < p * p; ++k)
            chunk.moments[thread * p * p + k] = at.moments[(first + thread) * p * p + k];
        chunk.centres[thread] = at.centres[first + thread];
    } else if (thread == count) {
        for (int n = 0; n < p; ++n) chunk.factorials[n] = at.factorials[n];
    }
}

// Figure 10: a thread has one number at most; those of factorials make or read them.
template <int p, bool makes_factorials, class AnyChunk>
__device__ void read_balanced(const DeviceProblem& at, int first, int count, AnyChunk& chunk) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int moment = thread - p, coordinate = moment - count * p * p;
    if (moment < 0) {
        int factorial = makes_factorials ? 1 : at.factorials[thread];
        if (makes_factorials)
            for (int n = 2; n <= thread; ++n) factorial *= n;
        chunk.factorials[thread] = factorial;
    } else if (coordinate < 0) {
        chunk.moments[moment] = at.moments[first * p * p + moment];
    } else if (coordinate < 2 * count) {
        const auto* from = reinterpret_cast<const float*>(at.centres + first);
        reinterpret_cast<float*>(chunk.centres)[coordinate] = from[coordinate];
    }
}

// The first chunk stores, others add.
template <int p, Variant variant>
__global__ __launch_bounds__(paper_threads) void chunk_kernel(DeviceProblem at, int first_cluster,
                                                              int /*first_target*/) {
    using OwnChunk = Chunk<p, chunk_clusters(variant, p)>;
    __shared__ OwnChunk chunk;
    const int count = min(OwnChunk::most, at.clusters - first_cluster);
    if constexpr (variant == Variant::balanced || variant == Variant::loaded_factorials)
        read_balanced<p, variant == Variant::balanced>(at, first_cluster, count, chunk);
    else if constexpr (variant == Variant::filled_chunks)
        read_in_turns<p>(at, first_cluster, count, chunk);
    else
        read_by_cluster<p>(at, first_cluster, count, chunk);
    __syncthreads();
    const int target = static_cast<int>(blockIdx.x) * paper_threads + static_cast<int>(threadIdx.x);
    if (target >= at.targets) return;
    const float2 point = at.points[target];
    float sum = first_cluster == 0 ? 0.0f : at.potentials[target];
    for (int cluster = 0; cluster < count; ++cluster) {
        const float2 t = scaled_offset(at, point, chunk.centres[cluster]);
        constexpr bool unrolled = variant != Variant::filled_chunks && variant != Variant::chunks;
        sum += series<p, unrolled>(chunk.moments + cluster * p * p, chunk.factorials, hermite_polynomials<p>,
                                   t.x, t.y, unrolled ? p : at.terms);
    }
    at.potentials[target] = sum;
}

template <int p>
Kernel* kernel_of(Variant variant) {
    switch (variant) {
    case Variant::filled_chunks:
        return chunk_kernel<p, Variant::filled_chunks>;
    case Variant::chunks:
        return chunk_kernel<p, Variant::chunks>;
    case Variant::unrolled:
        return chunk_kernel<p, Variant::unrolled>;
    case Variant::balanced:
        return chunk_kernel<p, Variant::balanced>;
    case Variant::loaded_factorials:
        return chunk_kernel<p, Variant::loaded_factorials>;
    default:
        throw InternalError("a variant without chunks");
    }
}

} // namespace

Launch chunk_launch(Variant variant, int terms, std::int64_t targets) {
    return launch_of(terms == 5   ? kernel_of<5>(variant)
                     : terms == 9 ? kernel_of<9>(variant)
                                  : kernel_of<12>(variant),
                     targets, paper_threads);
}

} // namespace farfield::hermite
