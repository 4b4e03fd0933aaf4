// Many steps in one launch, for few bodies. Every block owns some bodies, a thread a coordinate of one, in
// registers from the first step to the last. An evaluation: owners send their packed points (stamped.cuh),
// each block gathers all points in its shared memory, and each of its warps sums a share of the sources on
// four targets, sources across lanes. Shares are added in double in their order, so bits depend on
// PersistentShape::splits alone, not on the GPU. Two buffers are enough: who sends points has received all of
// the evaluation before, so everybody is done with the one before that.
#pragma once

#include "dynamics/cuda/control.cuh"
#include "dynamics/cuda/stamped.cuh"
#include "dynamics/cuda/step_path.h"

#include <cuda_runtime_api.h>

namespace farfield::cuda {

constexpr int most_substeps = 3;

template <class PointType>
struct PersistentTask {
    double *x, *v, *a; ///< 3·n
    const double* factor;
    uint4* sent[2];       ///< stamped pieces, piece k of point j at [k·n + j]
    const uint4* resting; ///< what shared memory begins with: strengths, and points beyond the last body
    Control* control;
    int n;
    PersistentShape shape;
    unsigned stamp; ///< of the first evaluation; the host counts on, and 0 is never used
    bool moves;     ///< false: one evaluation at the present places
    int evaluations;
    int substeps;
    double kick[most_substeps], drift[most_substeps];
    Unscale unscale;
    double frame_scale, frame_unscale;
    typename PointType::real softening2;
};

/// Compute warps, and for floats one that chooses the next frame meanwhile.
template <class PointType>
constexpr int persistent_threads = 32 * (persistent_warps + (needs_frame<PointType> ? 1 : 0));

template <class PointType>
constexpr int persistent_shared_bytes(const PersistentShape& shape) {
    return static_cast<int>(shape.padded * sizeof(PointType) +
                            3 * shape.splits * shape.per_block * sizeof(typename PointType::real));
}

template <class PointType>
__device__ __forceinline__ PointType point_at(const uint4* points, int padded, int j) {
    PointType point;
    uint4* piece = reinterpret_cast<uint4*>(&point);
#pragma unroll
    for (int k = 0; k < pieces_of<PointType>; ++k) piece[k] = points[k * padded + j];
    return point;
}

/// Rows [begin, end) of 32 sources, a source a lane, on four targets from `first` on.
template <class PointType, bool diagonal>
__device__ __forceinline__ void sum_rows(const uint4* points, int padded, int begin, int end, int first,
                                         const PointType (&target)[persistent_targets],
                                         Sum<typename PointType::real, field_only> (&sum)[persistent_targets],
                                         typename PointType::real softening2) {
    const int lane = threadIdx.x & 31;
    constexpr int at_once = is_mixed<PointType> ? 4 : 8;
#pragma unroll at_once
    for (int row = begin; row < end; ++row) {
        const int j = 32 * row + lane;
        const PointType source = point_at<PointType>(points, padded, j);
#pragma unroll
        for (int r = 0; r < persistent_targets; ++r) {
            const auto d = difference(target[r], source);
            const auto inverse = inverse_powers<field_only>(squared_length(d, softening2));
            if (!diagonal || j != first + r) sum[r].add(d, source.at.w, inverse);
        }
    }
}

/// Sums of four targets over the lanes of a warp, halves exchanged so that each shuffle carries something
/// new. Lane l gets the sums of target l/8, in a fixed order.
template <class Real>
__device__ __forceinline__ Vec4<Real> fold_lanes(const Sum<Real, field_only> (&sum)[persistent_targets]) {
    const int lane = threadIdx.x & 31;
    Real part[2][3];
    const bool upper = (lane & 16) != 0;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const Real a[3] = {sum[k].x, sum[k].y, sum[k].z}, b[3] = {sum[k + 2].x, sum[k + 2].y, sum[k + 2].z};
#pragma unroll
        for (int c = 0; c < 3; ++c)
            part[k][c] = (upper ? b[c] : a[c]) + __shfl_xor_sync(0xffffffffU, upper ? a[c] : b[c], 16);
    }
    Real total[3];
    const bool odd = (lane & 8) != 0;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        total[c] =
            (odd ? part[1][c] : part[0][c]) + __shfl_xor_sync(0xffffffffU, odd ? part[0][c] : part[1][c], 8);
#pragma unroll
        for (int step = 4; step > 0; step /= 2) total[c] += __shfl_xor_sync(0xffffffffU, total[c], step);
    }
    return {total[0], total[1], total[2], Real(0)};
}

/// The shares of this warp: share number s·groups + g is part s of the sources on targets 4g to 4g + 3 of the
/// block.
template <class PointType>
__device__ __forceinline__ void sum_shares(const PersistentTask<PointType>& task, const uint4* points,
                                           typename PointType::real* partials) {
    using Real = typename PointType::real;
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const auto& shape = task.shape;
    const int groups = shape.per_block / persistent_targets, rows = shape.padded / 32;
    for (int share = warp; share < groups * shape.splits; share += persistent_warps) {
        const int group = share % groups, split = share / groups;
        const int local = persistent_targets * group;
        const int first = static_cast<int>(blockIdx.x) * shape.per_block + local;
        PointType target[persistent_targets];
#pragma unroll
        for (int r = 0; r < persistent_targets; ++r)
            target[r] = point_at<PointType>(points, shape.padded, first + r);
        Sum<Real, field_only> sum[persistent_targets];
        const int begin = rows * split / shape.splits, end = rows * (split + 1) / shape.splits;
        const int own = min(max(first / 32, begin), end), beyond = min(max(first / 32 + 1, begin), end);
        sum_rows<PointType, false>(points, shape.padded, begin, own, first, target, sum, task.softening2);
        sum_rows<PointType, true>(points, shape.padded, own, beyond, first, target, sum, task.softening2);
        sum_rows<PointType, false>(points, shape.padded, beyond, end, first, target, sum, task.softening2);
        const Vec4<Real> total = fold_lanes(sum);
        const int axis = lane & 7;
        if (axis < 3)
            partials[(split * shape.per_block + local + lane / 8) * 3 + axis] =
                axis == 0 ? total.x : (axis == 1 ? total.y : total.z);
    }
}

/// One warp: the origin of the next evaluation from all points of this one.
template <class PointType>
__device__ __forceinline__ void choose_origin(const PersistentTask<PointType>& task, const uint4* points,
                                              double (&origin)[3]) {
    const int lane = threadIdx.x & 31;
    float low[3], high[3];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) low[axis] = INFINITY, high[axis] = -INFINITY;
    for (int j = lane; j < task.n; j += 32) {
        const uint4 piece = points[j];
        const float place[3] = {__uint_as_float(piece.x), __uint_as_float(piece.y), __uint_as_float(piece.z)};
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            low[axis] = fminf(low[axis], place[axis]);
            high[axis] = fmaxf(high[axis], place[axis]);
        }
    }
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            low[axis] = fminf(low[axis], __shfl_xor_sync(0xffffffffU, low[axis], step));
            high[axis] = fmaxf(high[axis], __shfl_xor_sync(0xffffffffU, high[axis], step));
        }
        if (lane == axis)
            origin[axis] = next_origin(origin[axis], static_cast<double>(low[axis]),
                                       static_cast<double>(high[axis]), task.frame_unscale);
    }
}

template <class PointType>
__global__ void __launch_bounds__(persistent_threads<PointType>, 1)
    persistent_kernel(const PersistentTask<PointType> task) {
    using Real = typename PointType::real;
    extern __shared__ uint4 shared[];
    auto* const partials = reinterpret_cast<Real*>(shared + pieces_of<PointType> * task.shape.padded);
    __shared__ double origin[3];
    __shared__ double used[3];
    const auto& shape = task.shape;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < 3) origin[thread] = task.control->origin[thread];
    for (int k = thread; k < pieces_of<PointType> * shape.padded; k += persistent_threads<PointType>)
        shared[k] = task.resting[k];
    const unsigned long long evaluated = task.control->evaluations;
    __syncthreads();

    const int local = thread / 4, axis = thread % 4;
    const int body = static_cast<int>(blockIdx.x) * shape.per_block + local;
    const bool owner = local < shape.per_block && axis < 3 && body < task.n;
    const bool owner_warp = thread / 32 * 8 < shape.per_block; // with an owner among its lanes
    const long long i = 3LL * body + axis;
    double x = owner ? task.x[i] : 0.0, v = owner ? task.v[i] : 0.0, a = owner ? task.a[i] : 0.0;
    const double factor = owner ? task.factor[body] : 0.0;
    const bool few = pieces_of<PointType> * task.n <= 4 * persistent_threads<PointType>;
    bool frozen = !is_finite(a); // from the first such result on, for the host to see the place

    for (int evaluation = 0, substep = 0; evaluation < task.evaluations; ++evaluation) {
        const unsigned stamp = task.stamp + static_cast<unsigned>(evaluation);
        uint4* const sent = task.sent[stamp & 1U];
        if (owner_warp) {
            if (task.moves && !frozen) {
                v = add_scaled(v, task.kick[substep], a);
                x = add_scaled(x, task.drift[substep], v);
            }
            const auto packed = pack<PointType>(x, origin[axis < 3 ? axis : 0], task.frame_scale);
            send_point<PointType>(sent, task.n, body, axis, owner, packed, stamp);
        }
        if (few)
            receive_points<PointType, persistent_threads<PointType>, 2>(sent, shared, shape.padded, task.n,
                                                                        stamp);
        else
            receive_points<PointType, persistent_threads<PointType>, 4>(sent, shared, shape.padded, task.n,
                                                                        stamp);
        if (thread < 3) used[thread] = origin[thread];
        __syncthreads();
        if (thread < 32 * persistent_warps)
            sum_shares(task, shared, partials);
        else if constexpr (needs_frame<PointType>)
            choose_origin<PointType>(task, shared, origin);
        __syncthreads();
        if (owner) {
            double sum = 0.0;
            for (int split = 0; split < shape.splits; ++split)
                sum += static_cast<double>(partials[(split * shape.per_block + local) * 3 + axis]);
            a = acceleration_of(sum, task.unscale, factor);
            if (!is_finite(a)) {
                frozen = true;
                atomicMin(&task.control->failure,
                          evaluated + static_cast<unsigned long long>(evaluation) + 1);
            } else if (task.moves && !frozen) {
                v = add_scaled(v, task.kick[substep], a);
            }
        }
        substep = substep + 1 == task.substeps ? 0 : substep + 1;
    }
    if (owner) task.x[i] = x, task.v[i] = v, task.a[i] = a;
    // All blocks have read `control` before they sent their first points.
    if (blockIdx.x == 0 && thread < 3) {
        task.control->origin[thread] = origin[thread];
        task.control->used[thread] = used[thread];
        if (thread == 0)
            task.control->evaluations = evaluated + static_cast<unsigned long long>(task.evaluations);
    }
}

} // namespace farfield::cuda
