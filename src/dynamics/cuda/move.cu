#include "backend/cuda/check.h"
#include "dynamics/bodies/box.h"
#include "dynamics/cuda/move.cuh"
#include "dynamics/cuda/pack.cuh"

#include <algorithm>

namespace farfield::cuda {

namespace {

constexpr int threads = 256;
constexpr int most_range_blocks = 128;

unsigned blocks_for(long long items) { return static_cast<unsigned>((items + threads - 1) / threads); }

// Parameters in place: an index into a copy of them would bring all of it into memory, for each thread.
template <class PointType>
__global__ void move_kernel(const __grid_constant__ Motion<PointType> motion, const Move what) {
    using Real = typename PointType::real;
    const unsigned i = blockIdx.x * threads + threadIdx.x; // at most 3·2^30 and a thread block
    if (i >= 3U * static_cast<unsigned>(motion.n)) return;
    const int body = static_cast<int>(i / 3);
    const int axis = static_cast<int>(i % 3);
    double a = 0.0;
    if (what.from_sums) {
        const Real sum = motion.sums[static_cast<long long>(motion.sum_columns) * body + axis];
        a = acceleration_of(static_cast<double>(sum), motion.unscale, motion.factor[body]);
    } else if (what.begins) {
        a = motion.a[i];
    }
    if (what.keep) motion.a[i] = a;
    double x = motion.x[i];
    if (!is_finite(a)) {
        // The body stays where it is, for the host to see what it met.
        atomicMin(&motion.control->failure, motion.control->evaluations);
    } else if (what.ends || what.begins || what.wraps) {
        double v = motion.v[i];
        if (const double length = motion.period[axis]; what.wraps && length > 0.0) {
            x = wrapped(x, length);
            motion.x[i] = x;
        }
        if (what.ends) v = add_scaled(v, what.end_kick, a);
        if (what.begins) {
            v = add_scaled(v, what.kick, a);
            x = add_scaled(x, what.drift, v);
            motion.x[i] = x;
        }
        motion.v[i] = v;
    }
    if (!what.packs) return;
    const auto packed = pack<PointType>(x, motion.control->origin[axis], motion.frame_scale);
    reinterpret_cast<Real*>(&motion.points[body].at)[axis] = packed.high;
    if constexpr (is_mixed<PointType>) reinterpret_cast<float*>(&motion.points[body].low)[axis] = packed.low;
}

struct Box {
    double period[3];
};

__global__ void wrap_kernel(const double* places, int n, const __grid_constant__ Box box, double* in_box) {
    const long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x;
    if (i >= 3LL * n) return;
    const double length = box.period[i % 3];
    in_box[i] = length > 0.0 ? wrapped(places[i], length) : places[i];
}

template <class PointType>
__global__ void strengths_kernel(PointType* points, const double* strength, int n) {
    using Real = typename PointType::real;
    const int i = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    if (i >= n) return;
    points[i].at.w = static_cast<Real>(strength[i]);
    if constexpr (is_mixed<PointType>) points[i].low.w = 0.0F;
}

__global__ void count_kernel(Control* control) { ++control->evaluations; }

template <class PointType>
__global__ void range_kernel(const PointType* points, int n, Control* control, double frame_unscale) {
    float low[3], high[3];
    for (int axis = 0; axis < 3; ++axis) low[axis] = INFINITY, high[axis] = -INFINITY;
    for (int i = static_cast<int>(blockIdx.x * threads + threadIdx.x); i < n;
         i += static_cast<int>(gridDim.x) * threads) {
        const Vec4<float> at = points[i].at;
        const float place[3] = {at.x, at.y, at.z};
        for (int axis = 0; axis < 3; ++axis) {
            low[axis] = fminf(low[axis], place[axis]);
            high[axis] = fmaxf(high[axis], place[axis]);
        }
    }
    for (int axis = 0; axis < 3; ++axis)
        for (int step = 16; step > 0; step /= 2) {
            low[axis] = fminf(low[axis], __shfl_xor_sync(0xffffffffU, low[axis], step));
            high[axis] = fmaxf(high[axis], __shfl_xor_sync(0xffffffffU, high[axis], step));
        }
    if ((threadIdx.x & 31) == 0)
        for (int axis = 0; axis < 3; ++axis) {
            atomicMin(&control->low[axis], ordered(low[axis]));
            atomicMax(&control->high[axis], ordered(high[axis]));
        }
    // The last block to get here finds all extremes in place.
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&control->blocks_done, 1U) + 1 == gridDim.x;
    __syncthreads();
    if (!last || threadIdx.x >= 3) return;
    __threadfence();
    const unsigned axis = threadIdx.x;
    const double origin = control->origin[axis];
    control->used[axis] = origin;
    control->origin[axis] =
        next_origin(origin, static_cast<double>(from_ordered(__ldcg(&control->low[axis]))),
                    static_cast<double>(from_ordered(__ldcg(&control->high[axis]))), frame_unscale);
    control->low[axis] = ~0U;
    control->high[axis] = 0U;
    if (axis > 0) return;
    control->blocks_done = 0;
    ++control->evaluations;
}

} // namespace

template <class PointType>
void move(const Motion<PointType>& motion, const Move& what, cudaStream_t stream) {
    if (motion.n == 0) return;
    move_kernel<<<blocks_for(3LL * motion.n), threads, 0, stream>>>(motion, what);
    check_launch("moving the bodies");
}

void wrap_places(const double* places, int n, const std::array<double, 3>& period, double* in_box,
                 cudaStream_t stream) {
    if (n == 0) return;
    wrap_kernel<<<blocks_for(3LL * n), threads, 0, stream>>>(places, n, {{period[0], period[1], period[2]}},
                                                             in_box);
    check_launch("bringing the bodies into their box");
}

template <class PointType>
void set_strengths(PointType* points, const double* strength, int n, cudaStream_t stream) {
    if (n == 0) return;
    strengths_kernel<<<blocks_for(n), threads, 0, stream>>>(points, strength, n);
    check_launch("setting the strengths of the bodies");
}

template <class PointType>
void finish_evaluation(const PointType* points, int n, Control* control, double frame_unscale,
                       cudaStream_t stream) {
    if constexpr (needs_frame<PointType>) {
        const unsigned blocks = std::min<unsigned>(blocks_for(n), most_range_blocks);
        range_kernel<<<blocks, threads, 0, stream>>>(points, n, control, frame_unscale);
    } else {
        count_kernel<<<1, 1, 0, stream>>>(control);
    }
    check_launch("choosing the frame of the next step");
}

#define FF_INSTANTIATE(PointType)                                                                            \
    template void move(const Motion<PointType>&, const Move&, cudaStream_t);                                 \
    template void set_strengths(PointType*, const double*, int, cudaStream_t);                               \
    template void finish_evaluation(const PointType*, int, Control*, double, cudaStream_t);
FF_INSTANTIATE(Point<float>)
FF_INSTANTIATE(Point<double>)
FF_INSTANTIATE(MixedPoint)
#undef FF_INSTANTIATE

} // namespace farfield::cuda
