// Kernels between the caller's arrays and the rungs' own layouts: they read any strides as double and look
// for values that are not finite, put points into their frame, and give sums their signs and scales.
#pragma once

#include "sums/direct/cuda/launch.cuh"
#include "sums/points/prepared.h"

#include <cfloat>

namespace farfield::cuda {

constexpr int layout_threads = 256;

/// What a block found in its rows: the range of each column and the first element, counted row by row, that
/// is not finite.
struct Bounds {
    double low[3], high[3];
    unsigned long long bad;
};
constexpr unsigned long long none_bad = ~0ULL;

__device__ inline Bounds no_bounds() {
    return {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}, none_bad};
}
__device__ inline void merge(Bounds& a, const Bounds& b) {
    for (int k = 0; k < 3; ++k) {
        a.low[k] = fmin(a.low[k], b.low[k]);
        a.high[k] = fmax(a.high[k], b.high[k]);
    }
    a.bad = b.bad < a.bad ? b.bad : a.bad;
}

/// A strided array of `rows` × 1, 2 or 3, read into rows of `out`.
template <class T>
struct ReadTask {
    const T* data;
    long long row, column; ///< strides in elements
    long long rows;
    double* out;
    int out_row;    ///< from one row of `out` to the next
    Bounds* bounds; ///< one a block
};

template <class T, int columns>
__global__ void read_kernel(const ReadTask<T> task) {
    Bounds own = no_bounds();
    const T* const __restrict__ data = task.data;
    double* const __restrict__ out = task.out; // another array: several rows are on their way at a time
    const auto step = static_cast<long long>(gridDim.x) * blockDim.x;
#pragma unroll 4
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < task.rows;
         i += step)
        for (int k = 0; k < columns; ++k) {
            const double value = static_cast<double>(data[i * task.row + k * task.column]);
            const auto flat = static_cast<unsigned long long>(i * task.out_row + k);
            out[flat] = value;
            if (!isfinite(value) && flat < own.bad) own.bad = flat;
            own.low[k] = fmin(own.low[k], value);
            own.high[k] = fmax(own.high[k], value);
        }
    __shared__ Bounds all[layout_threads];
    all[threadIdx.x] = own;
    for (int half = layout_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < half) merge(all[threadIdx.x], all[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) task.bounds[blockIdx.x] = all[0];
}

/// Points and strengths on their way into a rung's layout. `strengths` is null for targets.
struct PackTask {
    const double* points = nullptr;
    const double* strengths = nullptr;
    int n = 0;
    Frame frame{};
    int strength_exponent = 0;
};

__device__ inline Vec4<double> framed(const PackTask& task, int i) {
    const auto coordinate = [&](int k) {
        return scalbn(task.points[3LL * i + k] - task.frame.origin[k], task.frame.exponent);
    };
    return {coordinate(0), coordinate(1), coordinate(2),
            task.strengths != nullptr ? scalbn(task.strengths[i], task.strength_exponent) : 0.0};
}

template <class Real>
__device__ void store(Point<Real>* points, int i, int /*n*/, const Vec4<double>& p) {
    points[i].at = {static_cast<Real>(p.x), static_cast<Real>(p.y), static_cast<Real>(p.z),
                    static_cast<Real>(p.w)};
}
__device__ inline void store(MixedPoint* points, int i, int /*n*/, const Vec4<double>& p) {
    const Vec4<float> high{static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z),
                           static_cast<float>(p.w)};
    points[i] = {high,
                 {static_cast<float>(p.x - static_cast<double>(high.x)),
                  static_cast<float>(p.y - static_cast<double>(high.y)),
                  static_cast<float>(p.z - static_cast<double>(high.z)), 0.0F}};
}
template <class Real>
__device__ void store(Body<Real>* bodies, int i, int /*n*/, const Vec4<double>& p) {
    bodies[i] = {static_cast<Real>(p.w),
                 static_cast<Real>(p.x),
                 static_cast<Real>(p.y),
                 static_cast<Real>(p.z),
                 {},
                 {}};
}
/// Four arrays of n one after the other.
template <class Real>
__device__ void store(Real* arrays, int i, int n, const Vec4<double>& p) {
    const Real values[4] = {static_cast<Real>(p.x), static_cast<Real>(p.y), static_cast<Real>(p.z),
                            static_cast<Real>(p.w)};
    for (int k = 0; k < 4; ++k) arrays[static_cast<long long>(k) * n + i] = values[k];
}

template <class Layout>
__global__ void pack_kernel(const PackTask task, Layout* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < task.n) store(out, i, task.n, framed(task, i));
}

/// Packed points into another layout.
template <class Real, class Layout>
__global__ void relay_kernel(const Point<Real>* points, int n, Layout* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const auto at = points[i].at;
    store(out, i, n,
          Vec4<double>{static_cast<double>(at.x), static_cast<double>(at.y), static_cast<double>(at.z),
                       static_cast<double>(at.w)});
}

/// Where sums go: sign·2^exponent·value, contiguous; null where not wanted. `not_finite` becomes 1 where one
/// is not.
struct FinishTask {
    double* potential = nullptr;
    double* field = nullptr;
    double sign = 1.0;
    int potential_exponent = 0, field_exponent = 0;
    int n = 0;
    int* not_finite = nullptr;
};

template <class Real>
__global__ void finish_kernel(const FinishTask task, const Vec4<Real>* sums) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= task.n) return;
    const Vec4<Real> sum = sums[i];
    bool finite = true;
    if (task.potential != nullptr) {
        const double value = task.sign * scalbn(static_cast<double>(sum.w), task.potential_exponent);
        task.potential[i] = value;
        finite = isfinite(value);
    }
    if (task.field != nullptr) {
        const Real components[3] = {sum.x, sum.y, sum.z};
        for (int k = 0; k < 3; ++k) {
            const double value = task.sign * scalbn(static_cast<double>(components[k]), task.field_exponent);
            task.field[3LL * i + k] = value;
            finite = finite && isfinite(value);
        }
    }
    if (!finite) *task.not_finite = 1; // whoever writes, writes the same
}

/// rows×columns contiguous values into the caller's array.
template <class T>
__global__ void write_kernel(const double* values, T* data, long long row, long long column, long long rows,
                             int columns) {
    const long long flat = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (flat < rows * columns)
        data[flat / columns * row + flat % columns * column] = static_cast<T>(values[flat]);
}

} // namespace farfield::cuda
