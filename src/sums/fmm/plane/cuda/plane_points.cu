// Points and expansions in the plane. P2M and P2L: four lanes a cell, each with every fourth coefficient. L2P
// and M2P: eight lanes a leaf, each with a target at a time.
#include "sums/fmm/plane/cuda/complex_number.cuh"
#include "sums/fmm/plane/cuda/plane_far.cuh"
#include "sums/fmm/plane/narrow_series.h"

#include "backend/cuda/check.h"

#include <farfield/error.h>

namespace farfield::cuda {
namespace {

constexpr int point_threads = 128;
constexpr int form_lanes = 4, value_lanes = 8;
constexpr int most_form_numbers = 11; ///< of a lane: orders up to 43

struct Cell {
    double x, y, width, scale;
    int level;

    __device__ Cell(const TreeView& tree, std::int32_t cell) {
        const auto& place = tree.places[cell];
        level = place.level;
        width = tree.width_of(level);
        scale = 1.0 / width;
        x = tree.centre(place, 0);
        y = tree.centre(place, 1);
    }
    /// From the centre, in widths.
    [[nodiscard]] __device__ PlaneNumber local(const Vec4<double>& point) const {
        return {(point.x - x) * scale, (point.y - y) * scale};
    }
};

/// Which threads share a cell, and which of them this one is.
template <int lanes>
struct Group {
    int number = static_cast<int>(blockIdx.x * point_threads + threadIdx.x) / lanes;
    int lane = static_cast<int>(threadIdx.x) % lanes;
};

/// base^k for 0 ≤ k < 4.
__device__ __forceinline__ PlaneNumber small_power(const PlaneNumber& base, const PlaneNumber& square,
                                                   int k) {
    PlaneNumber out{1.0, 0.0};
    if ((k & 1) != 0) out = base;
    if ((k & 2) != 0) out = out * square;
    return out;
}

/// Coefficients k, k + 4, … of a cell's expansions; k is the lane.
template <int numbers, PlaneSets sets, bool to_locals>
struct FormLane {
    PlaneNumber sum[sets == PlaneSets::parts ? 2 : 1][numbers] = {};
    double constant[sets == PlaneSets::parts ? 2 : 1] = {};

    __device__ __forceinline__ void add(const Vec4<double>& point, const Cell& cell, int lane) {
        auto v = cell.local(point);
        if constexpr (to_locals) {
            if (lane == 0) {
                const double log_distance = 0.5 * log(fma(v.re, v.re, v.im * v.im)) + log(cell.width);
                constant[0] = fma(point.z, log_distance, constant[0]);
                if constexpr (sets == PlaneSets::parts) constant[1] = fma(point.w, log_distance, constant[1]);
            }
            v = inverse_of(v);
        }
        const auto square = v * v;
        const auto fourth = square * square;
        auto power = small_power(v, square, lane);
        if constexpr (to_locals) power = PlaneNumber{-power.re, -power.im} * v;
#pragma unroll
        for (int c = 0; c < numbers; ++c) {
            if constexpr (sets == PlaneSets::together)
                multiply_add(sum[0][c], {point.z, point.w}, power);
            else
                multiply_add(sum[0][c], point.z, power);
            if constexpr (sets == PlaneSets::parts) multiply_add(sum[1][c], point.w, power);
            if (c + 1 < numbers) power = power * fourth;
        }
    }
};

template <int numbers, PlaneSets sets, bool to_locals>
__global__ void __launch_bounds__(point_threads) form_plane_kernel(const PlaneFormTask task) {
    constexpr int count = count_of(sets);
    const Group<form_lanes> group;
    if (group.number >= task.count) return;
    const auto& far = task.far;
    const auto own = task.leaves != nullptr ? task.leaves[group.number] : group.number;
    const int begin = to_locals ? task.first[group.number] : 0;
    const int end = to_locals ? task.first[group.number + 1] : 1;
    if (to_locals && (begin == end || far.tree.targets[own].size() == 0)) return;
    const Cell cell(far.tree, own);
    FormLane<numbers, sets, to_locals> lane;
    for (int k = begin; k < end; ++k) {
        const auto range = far.tree.sources[to_locals ? task.partners[k] : own];
        for (int i = range.begin; i < range.end; ++i) lane.add(task.points[i], cell, group.lane);
    }
#pragma unroll
    for (int set = 0; set < count; ++set) {
        const std::int64_t expansion = std::int64_t{count} * own + set;
        PlaneNumber* const to = to_locals ? far.local(expansion) + 1 : far.multipole(expansion);
#pragma unroll
        for (int c = 0; c < numbers; ++c) {
            const int k = group.lane + form_lanes * c;
            const auto& value = lane.sum[set][c];
            if constexpr (to_locals) {
                if (k <= far.order) to[k] = {to[k].re + value.re, to[k].im + value.im};
            } else {
                if (k < far.columns) to[k] = k <= far.order ? value : PlaneNumber{};
            }
        }
        if (to_locals && group.lane == 0) to[-1].re += lane.constant[set];
    }
}

/// P2M of one set and low orders, in float.
template <int numbers, bool is_complex>
__global__ void __launch_bounds__(point_threads) form_narrow_plane_kernel(const PlaneFormTask task) {
    const Group<form_lanes> group;
    if (group.number >= task.count) return;
    const auto& far = task.far;
    const auto leaf = task.leaves[group.number];
    const auto range = far.tree.sources[leaf];
    const auto scale = static_cast<float>(Cell(far.tree, leaf).scale);
    NarrowPowers<numbers, form_lanes, is_complex> powers;
    constexpr int together = 4; // that are read before any is used
    for (int begin = range.begin; begin < range.end; begin += together) {
        float4 point[together];
#pragma unroll
        for (int k = 0; k < together; ++k) {
            point[k] = {};
            if (begin + k < range.end)
                point[k] = __ldg(reinterpret_cast<const float4*>(task.narrow_points) + begin + k);
        }
#pragma unroll
        for (int k = 0; k < together; ++k)
            powers.add(scale * point[k].x, scale * point[k].y, point[k].z, point[k].w, group.lane);
    }
    PlaneNumber* const to = far.multipole(leaf);
#pragma unroll
    for (int c = 0; c < numbers; ++c) {
        const int k = group.lane + form_lanes * c;
        if (k >= far.columns) break;
        to[k] = {};
        if (k <= far.order) to[k] = {static_cast<double>(powers.re[c]), static_cast<double>(powers.im[c])};
    }
}

/// F and w of an expansion at a point.
struct Value {
    PlaneNumber w{};
    double potential = 0.0;
};

__device__ __forceinline__ Value local_value(const PlaneFarView& at, const PlaneNumber* from,
                                             const PlaneNumber& u, double scale) {
    PlaneNumber w{}, series{};
#pragma unroll 4
    for (int n = at.order; n >= 0; --n) {
        const auto g = read(from + n + 1);
        w = w * u;
        w = {w.re + g.re, w.im + g.im};
        series = series * u;
        multiply_add(series, __ldg(at.reciprocals + n + 1), g);
    }
    return {{scale * w.re, scale * w.im}, from[0].re + (u * series).re};
}

__device__ __forceinline__ Value multipole_value(const PlaneFarView& at, const PlaneNumber* from,
                                                 const PlaneNumber& u, const Cell& cell) {
    const auto v = inverse_of(u);
    PlaneNumber w{}, series{};
    for (int k = at.order; k > 0; --k) {
        const auto a = read(from + k);
        w = w * v;
        w = {w.re + a.re, w.im + a.im};
        series = series * v;
        multiply_add(series, __ldg(at.reciprocals + k), a);
    }
    const auto charge = read(from);
    w = w * v;
    w = PlaneNumber{w.re + charge.re, w.im + charge.im} * v;
    const double log_distance = 0.5 * log(fma(u.re, u.re, u.im * u.im)) + log(cell.width);
    return {{cell.scale * w.re, cell.scale * w.im}, charge.re * log_distance - (v * series).re};
}

/// Adds what a set has: the second one counts times i.
__device__ __forceinline__ void add(Vec4<double>& sum, const Value& value, int set) {
    if (set == 0) {
        sum.x += value.w.re;
        sum.y -= value.w.im;
        sum.z += value.potential;
    } else {
        sum.x -= value.w.im;
        sum.y -= value.w.re;
        sum.w += value.potential;
    }
}

__global__ void __launch_bounds__(point_threads) evaluate_plane_kernel(const PlaneValueTask task) {
    const Group<value_lanes> group;
    if (group.number >= task.count) return;
    const auto& far = task.far;
    const auto leaf = task.leaves[group.number];
    const auto range = far.tree.targets[leaf];
    const Cell cell(far.tree, leaf);
    for (int i = range.begin + group.lane; i < range.end; i += value_lanes) {
        const auto point = task.points[i];
        Vec4<double> sum{0.0, 0.0, 0.0, 0.0};
        for (int set = 0; set < far.sets; ++set)
            add(sum,
                local_value(far, far.local(std::int64_t{far.sets} * leaf + set), cell.local(point),
                            cell.scale),
                set);
        if (task.first != nullptr)
            for (int k = task.first[group.number]; k < task.first[group.number + 1]; ++k) {
                const Cell other(far.tree, task.partners[k]);
                for (int set = 0; set < far.sets; ++set)
                    add(sum,
                        multipole_value(far, far.multipole(std::int64_t{far.sets} * task.partners[k] + set),
                                        other.local(point), other),
                        set);
            }
        task.sums[i] = sum;
    }
}

/// L2P of one set and low orders, in float: a lane holds its leaf's coefficients.
template <int terms>
__global__ void __launch_bounds__(point_threads) evaluate_narrow_plane_kernel(const PlaneValueTask task) {
    const Group<value_lanes> group;
    if (group.number >= task.count) return;
    const auto& far = task.far;
    const auto leaf = task.leaves[group.number];
    const auto range = far.tree.targets[leaf];
    const auto scale = static_cast<float>(Cell(far.tree, leaf).scale);
    const PlaneNumber* const from = far.local(leaf);
    NarrowSeries<terms> series;
    series.constant = static_cast<float>(from[0].re);
#pragma unroll
    for (int n = 0; n < terms; ++n)
        if (n <= far.order) series.set(n, read(from + n + 1));
    constexpr int together = 4; // that are read before any is used
    for (int begin = range.begin + group.lane; begin < range.end; begin += together * value_lanes) {
        float2 at[together];
#pragma unroll
        for (int k = 0; k < together; ++k) {
            const int i = begin + k * value_lanes;
            at[k] = {};
            if (i < range.end) at[k] = __ldg(reinterpret_cast<const float2*>(task.narrow_points + i));
        }
#pragma unroll
        for (int k = 0; k < together; ++k) {
            const int i = begin + k * value_lanes;
            if (i >= range.end) break;
            const auto value = series.at(scale * at[k].x, scale * at[k].y);
            task.narrow_sums[i] = {scale * value.w_re, -scale * value.w_im, value.potential, 0.0F};
        }
    }
}

template <int lanes>
unsigned blocks_for(int count) {
    constexpr int groups = point_threads / lanes;
    return static_cast<unsigned>((count + groups - 1) / groups);
}

template <int numbers, bool to_locals>
void launch_form(const PlaneFormTask& task, PlaneSets sets, cudaStream_t stream) {
    const auto blocks = blocks_for<form_lanes>(task.count);
    switch (sets) {
    case PlaneSets::real:
        form_plane_kernel<numbers, PlaneSets::real, to_locals><<<blocks, point_threads, 0, stream>>>(task);
        break;
    case PlaneSets::parts:
        form_plane_kernel<numbers, PlaneSets::parts, to_locals><<<blocks, point_threads, 0, stream>>>(task);
        break;
    case PlaneSets::together:
        form_plane_kernel<numbers, PlaneSets::together, to_locals>
            <<<blocks, point_threads, 0, stream>>>(task);
        break;
    }
    check_launch("forming expansions");
}

template <int numbers>
void launch_narrow_form(const PlaneFormTask& task, bool is_complex, cudaStream_t stream) {
    const auto blocks = blocks_for<form_lanes>(task.count);
    if (is_complex)
        form_narrow_plane_kernel<numbers, true><<<blocks, point_threads, 0, stream>>>(task);
    else
        form_narrow_plane_kernel<numbers, false><<<blocks, point_threads, 0, stream>>>(task);
    check_launch("forming expansions");
}

void launch_narrow_form(const PlaneFormTask& task, int numbers, PlaneSets sets, cudaStream_t stream) {
    const bool is_complex = sets == PlaneSets::together;
    if (numbers <= 2) return launch_narrow_form<2>(task, is_complex, stream);
    if (numbers <= 3) return launch_narrow_form<3>(task, is_complex, stream);
    if (numbers <= 4) return launch_narrow_form<4>(task, is_complex, stream);
    throw InternalError("an order in the plane that no kernel in float has");
}

} // namespace

void form_plane_expansions(const PlaneFormTask& task, PlaneSets sets, bool to_locals, cudaStream_t stream) {
    if (task.count == 0) return;
    const int numbers = (task.far.columns + form_lanes - 1) / form_lanes;
    if (task.narrow_points != nullptr) return launch_narrow_form(task, numbers, sets, stream);
    if (numbers > most_form_numbers) throw InternalError("an order in the plane that no kernel has");
    if (to_locals) return launch_form<most_form_numbers, true>(task, sets, stream);
    if (numbers <= 2) return launch_form<2, false>(task, sets, stream);
    if (numbers <= 3) return launch_form<3, false>(task, sets, stream);
    if (numbers <= 4) return launch_form<4, false>(task, sets, stream);
    if (numbers <= 6) return launch_form<6, false>(task, sets, stream);
    if (numbers <= 8) return launch_form<8, false>(task, sets, stream);
    launch_form<most_form_numbers, false>(task, sets, stream);
}

void evaluate_plane_expansions(const PlaneValueTask& task, cudaStream_t stream) {
    if (task.count == 0) return;
    const auto launch = [&](auto kernel) {
        kernel<<<blocks_for<value_lanes>(task.count), point_threads, 0, stream>>>(task);
        check_launch("evaluating expansions");
    };
    const int terms = task.far.order + 1;
    if (task.narrow_sums == nullptr) return launch(evaluate_plane_kernel);
    if (terms <= 8) return launch(evaluate_narrow_plane_kernel<8>);
    if (terms <= 10) return launch(evaluate_narrow_plane_kernel<10>);
    launch(evaluate_narrow_plane_kernel<most_narrow_terms>);
}

} // namespace farfield::cuda
