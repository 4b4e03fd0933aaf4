// M2L by rotation (rotations.h), p³: a block has some targets of one octant, a target a lane, and their
// expansions in shared memory. Neighbour after neighbour: fetch with the phases of the azimuth, rotate,
// translate along z, rotate back, add with phases. The numbers of a rotation are the same for all lanes.
// No atomics: the same bits from run to run.
#include "backend/cuda/check.h"
#include "studies/fmm_strategies/cuda/tiles.cuh"
#include "studies/fmm_strategies/rotations.h"

namespace farfield::strategies {
namespace {

constexpr int rotated_threads = 512, group_rows = 4;
constexpr std::size_t most_shared = 227 * 1024;

// Expansions of `targets`, a number of all targets after the other; a place more a row keeps banks apart.
template <class Real, int targets>
struct Lanes {
    Real* values;
    static constexpr int stride = targets + 1;
    __device__ Real& operator()(int place, int target) const { return values[place * stride + target]; }
};

// out = blocks · in, degree by degree; a worker (a lane a target) takes 4 rows of a block at a time.
template <class Real, int targets>
__device__ void rotate_blocks(const Real* __restrict__ blocks, int order, const Lanes<Real, targets>& in,
                              const Lanes<Real, targets>& out, int worker, int target) {
    constexpr int workers = rotated_threads / targets;
    int task = 0;
    for (int l = order; l >= 0; --l)
        for (int part = 0; part < 2; ++part) {
            const bool imaginary = part == 1;
            for (int m = part; m <= l; m += group_rows) {
                if (task++ % workers != worker) continue;
                const int size = l + 1 - part; // of the block
                const Real* rows = blocks + rotation_place(l) + rotation_entry(l, m, part, imaginary);
                Real sum[group_rows] = {};
                for (int k = part; k <= l; ++k) {
                    const Real value = in(real_place(l, k, imaginary), target);
#pragma unroll
                    for (int r = 0; r < group_rows; ++r)
                        if (m + r <= l) sum[r] += rows[r * size + k - part] * value;
                }
#pragma unroll
                for (int r = 0; r < group_rows; ++r)
                    if (m + r <= l) out(real_place(l, m + r, imaginary), target) = sum[r];
            }
        }
}

template <class Real, int targets>
__device__ void translate_along(const Real* __restrict__ along, int order, const Lanes<Real, targets>& in,
                                const Lanes<Real, targets>& out, int worker, int target) {
    constexpr int workers = rotated_threads / targets;
    int task = 0;
    for (int m = 0; m <= order; ++m)
        for (int part = 0; part < (m == 0 ? 1 : 2); ++part) {
            const bool imaginary = part == 1;
            const Real sign = (m % 2 == 0) != imaginary ? Real(1) : Real(-1);
            for (int l = m; l <= order; l += group_rows) {
                if (task++ % workers != worker) continue;
                Real sum[group_rows] = {};
                for (int j = m; j <= order; ++j) {
                    const Real value = in(real_place(j, m, imaginary), target);
#pragma unroll
                    for (int r = 0; r < group_rows; ++r)
                        if (l + r <= order) sum[r] += along[l + r + j] * value;
                }
#pragma unroll
                for (int r = 0; r < group_rows; ++r)
                    if (l + r <= order) out(real_place(l + r, m, imaginary), target) = sign * sum[r];
            }
        }
}

template <class Real, int targets>
__global__ __launch_bounds__(rotated_threads) void rotated_kernel(RotatedProblem<Real> at, int columns) {
    extern __shared__ double rotated_memory[];
    __shared__ short list[neighbours];
    const int order = at.tiles.order, size = real_size(order), terms = order + 1;
    const int thread = static_cast<int>(threadIdx.x), worker = thread / targets, target = thread % targets;
    constexpr int workers = rotated_threads / targets;
    const auto* tile = at.tiles.slot + blockIdx.x * targets;
    const int found = list_neighbours(tile, targets, list);
    auto* numbers = reinterpret_cast<Real*>(rotated_memory);
    const Lanes<Real, targets> a{numbers}, b{numbers + size * Lanes<Real, targets>::stride},
        total{numbers + 2 * size * Lanes<Real, targets>::stride};
    for (int place = worker; place < size; place += workers) total(place, target) = 0;

    for (int each = static_cast<int>(blockIdx.y); each < found; each += at.tiles.splits) {
        const int n = list[each], op = operator_of(tile[0], n);
        const Real *cosine = at.cosine + op * terms, *sine = at.sine + op * terms;
        // a warp reads one source at a time, numbers side by side
        for (int t = thread / 32; t < targets; t += rotated_threads / 32) {
            const int source = source_of(tile[t], n).source;
            const Real* omega = at.tiles.omega + static_cast<std::size_t>(source < 0 ? 0 : source) * columns;
            for (int half = thread % 32; half < half_size(order); half += 32) {
                const auto degree = degree_at(half);
                const int re_place = real_place(degree.l, degree.m, false);
                const Real re = source < 0 ? Real(0) : omega[re_place];
                if (degree.m == 0) {
                    a(re_place, t) = re;
                    continue;
                }
                const Real im = source < 0 ? Real(0) : omega[re_place + 1];
                a(re_place, t) = re * cosine[degree.m] - im * sine[degree.m];
                a(re_place + 1, t) = im * cosine[degree.m] + re * sine[degree.m];
            }
        }
        __syncthreads();
        const auto blocks = static_cast<std::size_t>(at.angle_of[op]) * rotation_size(order);
        rotate_blocks<Real, targets>(at.there + blocks, order, a, b, worker, target);
        __syncthreads();
        translate_along<Real, targets>(at.along + op * (2 * terms - 1), order, b, a, worker, target);
        __syncthreads();
        rotate_blocks<Real, targets>(at.back + blocks, order, a, b, worker, target);
        __syncthreads();
        for (int half = worker; half < half_size(order); half += workers) {
            const auto degree = degree_at(half);
            const int place = real_place(degree.l, degree.m, false);
            if (degree.m == 0) {
                total(place, target) += b(place, target);
                continue;
            }
            const Real re = b(place, target), im = b(place + 1, target);
            total(place, target) += re * cosine[degree.m] - im * sine[degree.m];
            total(place + 1, target) += im * cosine[degree.m] + re * sine[degree.m];
        }
    }
    __syncthreads();
    const auto slots = static_cast<std::size_t>(blockIdx.y) * at.tiles.slots + blockIdx.x * targets;
    for (int place = thread; place < size * targets; place += rotated_threads)
        at.tiles.partial[slots * size + place] = total(place % size, place / size);
}

template <class Real>
constexpr std::size_t lanes_bytes(int order, int targets) {
    return sizeof(Real) * 3 * real_size(order) * (targets + 1);
}

template <class Real, int targets>
void launch_rotated(const RotatedProblem<Real>& problem, cudaStream_t stream) {
    const int order = problem.tiles.order;
    const auto bytes = lanes_bytes<Real>(order, targets);
    cuda::check(cudaFuncSetAttribute(rotated_kernel<Real, targets>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                "asking for shared memory");
    const dim3 grid(static_cast<unsigned>(problem.tiles.slots / targets),
                    static_cast<unsigned>(problem.tiles.splits));
    rotated_kernel<Real, targets><<<grid, rotated_threads, bytes, stream>>>(problem, padded_columns(order));
}

} // namespace

// 1 KB of shared memory is the system's, 1 KB holds the list.
template <class Real>
int rotated_targets(int order) {
    return lanes_bytes<Real>(order, 32) + 1024 <= most_shared ? 32 : 16;
}

template <class Real>
void enqueue_rotated(const RotatedProblem<Real>& problem, cudaStream_t stream) {
    if (rotated_targets<Real>(problem.tiles.order) == 32)
        launch_rotated<Real, 32>(problem, stream);
    else
        launch_rotated<Real, 16>(problem, stream);
    cuda::check_launch("computing M2L by rotations");
    enqueue_sum_of_splits(problem.tiles, real_size(problem.tiles.order), stream);
}

template int rotated_targets<float>(int);
template int rotated_targets<double>(int);
template void enqueue_rotated(const RotatedProblem<float>&, cudaStream_t);
template void enqueue_rotated(const RotatedProblem<double>&, cudaStream_t);

} // namespace farfield::strategies
