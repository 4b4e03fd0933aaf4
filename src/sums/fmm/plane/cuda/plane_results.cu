#include "sums/fmm/plane/cuda/plane_results.cuh"

#include "sums/points/framed_point.cuh"
#include "sums/tree/cuda/launch.cuh"

namespace farfield::cuda {
namespace {

constexpr int source_threads = 128, source_lanes = 32; ///< of a leaf: a warp

/// A row of N×columns numbers; of one column, it and 0.
__device__ double2 pair_or_one(const double* numbers, int columns, std::int64_t row) {
    return columns == 2 ? reinterpret_cast<const double2*>(numbers)[row] : double2{numbers[row], 0.0};
}

/// Points of a warp's lanes, one after another from `to` on: a lane writes half a point at a time, so that
/// neighbours fill whole sectors of memory.
__device__ void store_points(Vec4<double>* to, int count, const Vec4<double>& own) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int from = 16 * half + lane / 2;
        const double x = __shfl_sync(~0U, own.x, from), y = __shfl_sync(~0U, own.y, from);
        const double z = __shfl_sync(~0U, own.z, from), w = __shfl_sync(~0U, own.w, from);
        if (from < count)
            reinterpret_cast<double2*>(to)[32 * half + lane] = lane % 2 == 0 ? double2{x, y} : double2{z, w};
    }
}

/// @tparam in_double  they are placed in the tree, too
template <class Real, bool in_double>
__global__ void __launch_bounds__(source_threads, in_double ? 8 : 14)
    plane_source_kernel(const PlaneSourceTask task, Vec4<Real>* near) {
    const int number = static_cast<int>(blockIdx.x * source_threads + threadIdx.x) / source_lanes;
    if (number >= task.count) return;
    const auto leaf = task.leaves[number];
    const auto& place = task.tree.places[leaf];
    const double x = task.tree.centre(place, 0), y = task.tree.centre(place, 1);
    const auto range = task.tree.sources[leaf];
    for (int begin = range.begin; begin < range.end; begin += source_lanes) {
        const int count = min(range.end - begin, source_lanes), lane = static_cast<int>(threadIdx.x) % 32;
        Vec4<double> point{0.0, 0.0, 0.0, 0.0};
        if (lane < count) {
            const std::int64_t row = task.from[begin + lane];
            point = framed_point(task.sources, row, 2, task.frame);
            const auto strength = pair_or_one(task.strengths, task.columns, row);
            point.z = scalbn(strength.x, task.exponent);
            point.w = scalbn(strength.y, task.exponent);
            near[begin + lane] = {static_cast<Real>(point.x - x), static_cast<Real>(point.y - y),
                                  static_cast<Real>(point.z), static_cast<Real>(point.w)};
        }
        if constexpr (in_double) store_points(task.points + begin, count, point);
    }
}

constexpr int total_threads = 256;

__device__ PlaneNumber sum_of_block(PlaneNumber own) {
    __shared__ PlaneNumber all[total_threads];
    all[threadIdx.x] = own;
    for (int half = total_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (static_cast<int>(threadIdx.x) >= half) continue;
        all[threadIdx.x].re += all[threadIdx.x + half].re;
        all[threadIdx.x].im += all[threadIdx.x + half].im;
    }
    return all[0];
}

__global__ void __launch_bounds__(total_threads)
    total_kernel(const double* strengths, int columns, int count, int exponent, PlaneNumber* parts) {
    PlaneNumber own{};
    for (int i = static_cast<int>(blockIdx.x) * total_threads + static_cast<int>(threadIdx.x); i < count;
         i += total_parts * total_threads) {
        const auto strength = pair_or_one(strengths, columns, i);
        own.re += scalbn(strength.x, exponent);
        own.im += scalbn(strength.y, exponent);
    }
    const auto sum = sum_of_block(own);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

static_assert(total_parts == total_threads);
__global__ void __launch_bounds__(total_threads) last_total_kernel(PlaneNumber* parts) {
    const auto sum = sum_of_block(parts[threadIdx.x]);
    if (threadIdx.x == 0) parts[0] = sum;
}

template <class Real>
__global__ void plane_result_kernel(const PlaneResultTask<Real> task) {
    const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= task.count) return;
    const auto i = task.where[row];
    const auto near = task.near[i];
    double x = static_cast<double>(near.x), y = static_cast<double>(near.y);
    double potential[2] = {0.5 * static_cast<double>(near.z), 0.5 * static_cast<double>(near.w)}; // of ln r²
    if (task.far != nullptr) {
        const auto far = task.far[i];
        x += far.x;
        y += far.y;
        potential[0] += far.z;
        potential[1] += far.w;
    } else if (task.narrow_far != nullptr) {
        const auto far = task.narrow_far[i];
        x += static_cast<double>(far.x);
        y += static_cast<double>(far.y);
        potential[0] += static_cast<double>(far.z);
        potential[1] += static_cast<double>(far.w);
    }
    bool finite = true;
    if (task.potential != nullptr) {
        double2 others{task.total->re, task.total->im};
        if (task.strengths != nullptr) {
            const auto own = pair_or_one(task.strengths, task.columns, row);
            others = {others.x - scalbn(own.x, task.strength_exponent),
                      others.y - scalbn(own.y, task.strength_exponent)};
        }
        const auto value = [&](double all, double sum) {
            const double out = task.sign * scalbn(task.shift * all - sum, -task.strength_exponent);
            finite = finite && isfinite(out);
            return out;
        };
        if (task.columns == 2)
            reinterpret_cast<double2*>(task.potential)[row] = {value(others.x, potential[0]),
                                                               value(others.y, potential[1])};
        else
            task.potential[row] = value(others.x, potential[0]);
    }
    if (task.field != nullptr) {
        x = task.sign * scalbn(x, task.field_exponent);
        y = task.sign * scalbn(y, task.field_exponent);
        reinterpret_cast<double2*>(task.field)[row] = task.turned ? double2{-y, x} : double2{x, y};
        finite = finite && isfinite(x) && isfinite(y);
    }
    if (!finite) *task.not_finite = 1; // whoever writes, writes the same
}

} // namespace

template <class Real>
void set_plane_sources(const PlaneSourceTask& task, Vec4<Real>* near, cudaStream_t stream) {
    if (task.count == 0) return;
    constexpr int leaves = source_threads / source_lanes;
    const auto blocks = static_cast<unsigned>((task.count + leaves - 1) / leaves);
    const auto kernel =
        task.points != nullptr ? plane_source_kernel<Real, true> : plane_source_kernel<Real, false>;
    kernel<<<blocks, source_threads, 0, stream>>>(task, near);
    check_launch("placing sources");
}

void add_up_strengths(const double* strengths, int columns, int count, int exponent, PlaneNumber* parts,
                      cudaStream_t stream) {
    total_kernel<<<total_parts, total_threads, 0, stream>>>(strengths, columns, count, exponent, parts);
    check_launch("adding up strengths");
    last_total_kernel<<<1, total_threads, 0, stream>>>(parts);
    check_launch("adding up strengths");
}

template <class Real>
void write_plane_sums(const PlaneResultTask<Real>& task, cudaStream_t stream) {
    launch_over(task.count, stream, plane_result_kernel<Real>, task);
}

template void set_plane_sources(const PlaneSourceTask&, Vec4<float>*, cudaStream_t);
template void set_plane_sources(const PlaneSourceTask&, Vec4<double>*, cudaStream_t);
template void write_plane_sums(const PlaneResultTask<float>&, cudaStream_t);
template void write_plane_sums(const PlaneResultTask<double>&, cudaStream_t);

} // namespace farfield::cuda
