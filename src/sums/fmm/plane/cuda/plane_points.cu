// Points and expansions in the plane. P2M and P2L: eight lanes a cell, each with every eighth coefficient. L2P
// and M2P: sixteen lanes a leaf, each with a target at a time.
#include "sums/fmm/plane/cuda/complex_number.cuh"
#include "sums/fmm/plane/cuda/plane_far.cuh"

#include "backend/cuda/check.h"

#include <farfield/error.h>

namespace farfield::cuda {
namespace {

constexpr int point_threads = 128;
constexpr int form_lanes = 8, value_lanes = 16;
constexpr int most_form_numbers = 6; ///< of a lane: orders up to 47

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

/// base^k for 0 ≤ k < 8.
__device__ __forceinline__ PlaneNumber small_power(const PlaneNumber& base, const PlaneNumber& square,
                                                   const PlaneNumber& fourth, int k) {
    PlaneNumber out{1.0, 0.0};
    if ((k & 1) != 0) out = base;
    if ((k & 2) != 0) out = out * square;
    if ((k & 4) != 0) out = out * fourth;
    return out;
}

/// Coefficients k, k + 8, … of a cell's expansions; k is the lane.
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
                if constexpr (sets == PlaneSets::parts)
                    constant[1] = fma(point.w, log_distance, constant[1]);
            }
            v = inverse_of(v);
        }
        const auto square = v * v;
        const auto fourth = square * square;
        const auto eighth = fourth * fourth;
        auto power = small_power(v, square, fourth, lane);
        if constexpr (to_locals) power = PlaneNumber{-power.re, -power.im} * v;
#pragma unroll
        for (int c = 0; c < numbers; ++c) {
            if constexpr (sets == PlaneSets::together)
                multiply_add(sum[0][c], {point.z, point.w}, power);
            else
                multiply_add(sum[0][c], point.z, power);
            if constexpr (sets == PlaneSets::parts) multiply_add(sum[1][c], point.w, power);
            if (c + 1 < numbers) power = power * eighth;
        }
    }
};

template <int numbers, PlaneSets sets, bool to_locals>
__global__ void __launch_bounds__(point_threads) form_plane_kernel(const PlaneFormTask task) {
    constexpr int count = count_of(sets);
    const Group<form_lanes> group;
    if (group.number >= task.count) return;
    const auto& far = task.far;
    const auto& at = far.operators;
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
                if (k <= at.order) to[k] = {to[k].re + value.re, to[k].im + value.im};
            } else {
                if (k < at.columns) to[k] = k <= at.order ? value : PlaneNumber{};
            }
        }
        if (to_locals && group.lane == 0) to[-1].re += lane.constant[set];
    }
}

/// F and w of an expansion at a point.
struct Value {
    PlaneNumber w{};
    double potential = 0.0;
};

__device__ __forceinline__ Value local_value(const PlaneOperatorsView& at, const PlaneNumber* from,
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

__device__ __forceinline__ Value multipole_value(const PlaneOperatorsView& at, const PlaneNumber* from,
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
    const auto& at = far.operators;
    const auto leaf = task.leaves[group.number];
    const auto range = far.tree.targets[leaf];
    const Cell cell(far.tree, leaf);
    for (int i = range.begin + group.lane; i < range.end; i += value_lanes) {
        const auto point = task.points[i];
        Vec4<double> sum{0.0, 0.0, 0.0, 0.0};
        for (int set = 0; set < far.sets; ++set)
            add(sum,
                local_value(at, far.local(std::int64_t{far.sets} * leaf + set), cell.local(point), cell.scale),
                set);
        if (task.first != nullptr)
            for (int k = task.first[group.number]; k < task.first[group.number + 1]; ++k) {
                const Cell other(far.tree, task.partners[k]);
                for (int set = 0; set < far.sets; ++set)
                    add(sum,
                        multipole_value(at, far.multipole(std::int64_t{far.sets} * task.partners[k] + set),
                                        other.local(point), other),
                        set);
            }
        task.sums[i] = sum;
    }
}

template <int lanes>
unsigned blocks_for(int count) {
    constexpr int groups = point_threads / lanes;
    return static_cast<unsigned>((count + groups - 1) / groups);
}

template <int numbers, PlaneSets sets>
void launch_form(const PlaneFormTask& task, bool to_locals, cudaStream_t stream) {
    const auto blocks = blocks_for<form_lanes>(task.count);
    if (to_locals)
        form_plane_kernel<numbers, sets, true><<<blocks, point_threads, 0, stream>>>(task);
    else
        form_plane_kernel<numbers, sets, false><<<blocks, point_threads, 0, stream>>>(task);
    check_launch("forming expansions");
}

template <int numbers>
void launch_form_numbers(const PlaneFormTask& task, PlaneSets sets, bool to_locals, cudaStream_t stream) {
    if constexpr (numbers > most_form_numbers) {
        throw InternalError("an order in the plane that no kernel has");
    } else {
        if ((task.far.operators.columns + form_lanes - 1) / form_lanes != numbers)
            return launch_form_numbers<numbers + 1>(task, sets, to_locals, stream);
        switch (sets) {
        case PlaneSets::real:
            return launch_form<numbers, PlaneSets::real>(task, to_locals, stream);
        case PlaneSets::parts:
            return launch_form<numbers, PlaneSets::parts>(task, to_locals, stream);
        case PlaneSets::together:
            return launch_form<numbers, PlaneSets::together>(task, to_locals, stream);
        }
    }
}

} // namespace

void form_plane_expansions(const PlaneFormTask& task, PlaneSets sets, bool to_locals, cudaStream_t stream) {
    if (task.count > 0) launch_form_numbers<1>(task, sets, to_locals, stream);
}

void evaluate_plane_expansions(const PlaneValueTask& task, cudaStream_t stream) {
    if (task.count == 0) return;
    evaluate_plane_kernel<<<blocks_for<value_lanes>(task.count), point_threads, 0, stream>>>(task);
    check_launch("evaluating expansions");
}

} // namespace farfield::cuda
