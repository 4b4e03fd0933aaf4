// A warp takes 32 targets, neighbours in the order of boxes, a lane each, and of them at a time those that
// lie together. Sources of each row of boxes within the cut-off follow one another; those within reach of the
// targets' own box are gathered in shared memory. D axes, at least 3: coordinates along others are 0.
#pragma once

#include "sums/gauss/cuda/cell_pairs.cuh"

#include "backend/cuda/check.h"

#include <cuda_runtime.h>

namespace farfield::cuda {
namespace {

constexpr unsigned every_lane = 0xFFFFFFFFU;
constexpr int pair_warps = 4;

/// A row of `boxed_columns`.
template <int D>
struct alignas(16) BoxedPoint {
    double x[boxed_columns(D) - 1];
    double strength;
};

template <int D, class Real>
struct alignas(16) SeenPoint { ///< from the centre of the targets, in units in which a Gaussian is 2^−r²
    Real x[D];
    Real strength;
};

template <int D, class Real>
struct GatheredSource {
    SeenPoint<D, Real> at;
    int number;
};

__device__ inline float power_of_two(float x) {
    float out = 0.0F;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}
__device__ inline double power_of_two(double x) { return exp2(x); }

/// Sums of a lane's target: of some terms in Real, of all in double.
template <int D, class Real, bool with_gradient>
struct PairSums {
    static constexpr int columns = with_gradient ? 1 + D : 1;
    double total[columns] = {};

    __device__ void add(const GatheredSource<D, Real>* sources, int count, const SeenPoint<D, Real>& target,
                        int own) {
        Real part[columns] = {};
#pragma unroll 4
        for (int j = 0; j < count; ++j) {
            const auto source = sources[j].at;
            Real apart[D];
            for (int k = 0; k < D; ++k) apart[k] = target.x[k] - source.x[k];
            Real r2 = apart[D - 1] * apart[D - 1];
            for (int k = D - 1; k-- > 0;) r2 = fma(apart[k], apart[k], r2);
            const Real weight = sources[j].number == own ? Real(0) : source.strength * power_of_two(-r2);
            part[0] += weight;
            if constexpr (with_gradient)
                for (int k = 0; k < D; ++k) part[1 + k] = fma(weight, apart[k], part[1 + k]);
        }
        for (int column = 0; column < columns; ++column) total[column] += static_cast<double>(part[column]);
    }
};

__device__ double least_over_lanes(double x) {
    for (int apart = 16; apart > 0; apart /= 2) x = fmin(x, __shfl_xor_sync(every_lane, x, apart));
    return x;
}

/// The first of sorted keys that is not below `key`.
__device__ int lower_bound(const std::uint64_t* keys, int count, std::uint64_t key) {
    int low = 0;
    while (count > 0) {
        const int half = count / 2;
        const bool below = keys[low + half] < key;
        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/// A box around targets, along each axis.
template <int D>
struct TargetBox {
    double low[D], high[D];

    __device__ TargetBox(const BoxedPoint<D>& at, bool counts) {
        for (int k = 0; k < D; ++k) {
            low[k] = least_over_lanes(counts ? at.x[k] : HUGE_VAL);
            high[k] = -least_over_lanes(counts ? -at.x[k] : HUGE_VAL);
        }
    }
    [[nodiscard]] __device__ double centre(int k) const { return 0.5 * (low[k] + high[k]); }
};

struct SourceRange {
    int begin, end;
};

/// Rows of boxes along the first axis that the cut-off about a target box may reach.
template <int D>
struct NearRows {
    std::int64_t low[D], count[D];

    __device__ NearRows(const CellPairTask& task, const TargetBox<D>& box) {
        for (int k = 0; k < D; ++k) {
            low[k] = 0;
            count[k] = 1;
            if (k >= task.lattice.dimension) continue;
            const auto last = task.lattice.count[k] - 1;
            const auto number = [&](double x) {
                const double n = floor(x / task.lattice.side[k]);
                return n < 0.0                         ? std::int64_t{0}
                       : n > static_cast<double>(last) ? last
                                                       : static_cast<std::int64_t>(n);
            };
            low[k] = number(box.low[k] - task.cutoff);
            count[k] = number(box.high[k] + task.cutoff) - low[k] + 1;
        }
    }
    [[nodiscard]] __device__ std::int64_t rows() const {
        std::int64_t all = 1;
        for (int k = 1; k < D; ++k) all *= count[k];
        return all;
    }

    [[nodiscard]] __device__ SourceRange sources(const CellPairTask& task, const TargetBox<D>& box,
                                                 std::int64_t row) const {
        double left2 = task.cutoff * task.cutoff;
        auto first = static_cast<std::uint64_t>(low[0]);
        auto stride = static_cast<std::uint64_t>(task.lattice.count[0]);
        for (int k = 1; k < D && k < task.lattice.dimension; ++k) {
            const std::int64_t at = low[k] + row % count[k];
            row /= count[k];
            first += stride * static_cast<std::uint64_t>(at);
            stride *= static_cast<std::uint64_t>(task.lattice.count[k]);
            // boxes at either end hold all that lies beyond
            const double from = static_cast<double>(at) * task.lattice.side[k],
                         to = from + task.lattice.side[k];
            const double above = at > 0 ? from - box.high[k] : 0.0;
            const double below = at + 1 < task.lattice.count[k] ? box.low[k] - to : 0.0;
            const double gap = fmax(0.0, fmax(above, below) - 1e-9 * task.lattice.side[k]);
            left2 -= gap * gap;
        }
        if (left2 < 0.0) return {0, 0};
        return {
            lower_bound(task.source_keys, task.source_count, first),
            lower_bound(task.source_keys, task.source_count, first + static_cast<std::uint64_t>(count[0]))};
    }
};

template <int D, class Real, bool with_gradient>
class CellPairs {
    const CellPairTask& task_;
    GatheredSource<D, Real>* gathered_;
    int filled_ = 0;
    unsigned long long pairs_ = 0;
    double scale_; ///< 2^−(scale·r)² is the Gaussian

    __device__ SeenPoint<D, Real> seen(const BoxedPoint<D>& at, const TargetBox<D>& box) const {
        SeenPoint<D, Real> out;
        for (int k = 0; k < D; ++k) out.x[k] = static_cast<Real>(scale_ * (at.x[k] - box.centre(k)));
        out.strength = static_cast<Real>(at.strength);
        return out;
    }
    __device__ bool is_near(const BoxedPoint<D>& at, const TargetBox<D>& box) const {
        double r2 = 0.0;
        for (int k = 0; k < D; ++k) {
            const double gap = fmax(0.0, fmax(box.low[k] - at.x[k], at.x[k] - box.high[k]));
            r2 += gap * gap;
        }
        return r2 <= task_.cutoff * task_.cutoff;
    }
    __device__ void gather(int j, int end, const TargetBox<D>& box) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        const auto* sources = reinterpret_cast<const BoxedPoint<D>*>(task_.sources);
        const BoxedPoint<D> at = j < end ? sources[j] : BoxedPoint<D>{};
        const bool near = j < end && is_near(at, box);
        const unsigned which = __ballot_sync(every_lane, near);
        if (near) gathered_[filled_ + __popc(which & ((1U << lane) - 1U))] = {seen(at, box), j};
        filled_ += __popc(which);
    }

public:
    __device__ CellPairs(const CellPairTask& task, GatheredSource<D, Real>* gathered)
        : task_(task), gathered_(gathered), scale_(sqrt(0.72134752044448170) / task.sigma) {}

    /// Adds what sources within reach do to the targets of the box, for lanes that are `active`.
    __device__ void add(const BoxedPoint<D>& target, bool active, int own,
                        PairSums<D, Real, with_gradient>& sums) {
        const TargetBox<D> box(target, active);
        const NearRows<D> rows(task_, box);
        const SeenPoint<D, Real> here = seen(target, box);
        const unsigned targets = static_cast<unsigned>(__popc(__ballot_sync(every_lane, active)));
        const auto flush = [&] {
            __syncwarp();
            if (active) sums.add(gathered_, filled_, here, own);
            pairs_ += static_cast<unsigned long long>(filled_) * targets;
            filled_ = 0;
            __syncwarp();
        };
        for (std::int64_t first = 0; first < rows.rows(); first += 32) {
            const auto row = first + threadIdx.x % 32;
            const auto range = row < rows.rows() ? rows.sources(task_, box, row) : SourceRange{0, 0};
            for (unsigned left = __ballot_sync(every_lane, range.begin < range.end); left != 0;
                 left &= left - 1) {
                const int lane = __ffs(static_cast<int>(left)) - 1;
                const int begin = __shfl_sync(every_lane, range.begin, lane);
                const int end = __shfl_sync(every_lane, range.end, lane);
                for (int j = begin; j < end; j += 32) {
                    gather(j + static_cast<int>(threadIdx.x % 32), end, box);
                    if (filled_ > 32) flush();
                }
            }
        }
        flush();
    }
    [[nodiscard]] __device__ unsigned long long pairs() const { return pairs_; }
    [[nodiscard]] __device__ double scale() const { return scale_; }
};

template <int D, class Real, bool with_gradient>
__device__ void write_pairs(const CellPairTask& task, int i, const PairSums<D, Real, with_gradient>& sums,
                            double scale) {
    const auto row = static_cast<std::int64_t>(task.from[i]);
    bool finite = true;
    if (task.potential != nullptr) {
        const double value = scalbn(sums.total[0], task.potential_exponent);
        task.potential[row] = value;
        finite = isfinite(value);
    }
    if constexpr (with_gradient) {
        const double factor = -1.0 / (scale * task.sigma * task.sigma);
        const int d = task.lattice.dimension;
        for (int k = 0; k < D; ++k) {
            if (k >= d) break;
            const double value = scalbn(factor * sums.total[1 + k], task.gradient_exponent);
            task.gradient[d * row + k] = value;
            finite = finite && isfinite(value);
        }
    }
    if (!finite) *task.not_finite = 1; // whoever writes, writes the same
}

template <int D, class Real, bool with_gradient>
__global__ void __launch_bounds__(32 * pair_warps)
    cell_pair_kernel(const __grid_constant__ CellPairTask task) {
    __shared__ GatheredSource<D, Real> gathered[pair_warps][64];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const int first = (static_cast<int>(blockIdx.x) * pair_warps + warp) * 32;
    if (first >= task.target_count) return;
    const int i = first + lane;
    const bool is_target = i < task.target_count;
    const BoxedPoint<D> target = reinterpret_cast<const BoxedPoint<D>*>(task.targets)[is_target ? i : first];
    CellPairs<D, Real, with_gradient> loop(task, gathered[warp]);
    PairSums<D, Real, with_gradient> sums;
    for (unsigned left = __ballot_sync(every_lane, is_target); left != 0;) {
        const int leader = __ffs(static_cast<int>(left)) - 1;
        bool together = (left >> lane & 1U) != 0;
        for (int k = 0; k < D; ++k) {
            const double apart = target.x[k] - __shfl_sync(every_lane, target.x[k], leader);
            together = together && fabs(apart) <= task.cutoff;
        }
        loop.add(target, together, task.without_own ? i : -1, sums);
        left &= ~__ballot_sync(every_lane, together);
    }
    if (is_target) write_pairs(task, i, sums, loop.scale());
    if (lane == 0) atomicAdd(task.pairs, loop.pairs());
}

} // namespace

template <int D, class Real>
void add_cell_pairs_in(const CellPairTask& task, cudaStream_t stream) {
    if (task.target_count == 0) return;
    constexpr int targets = 32 * pair_warps;
    const int blocks = (task.target_count + targets - 1) / targets;
    if (task.gradient != nullptr)
        cell_pair_kernel<D, Real, true><<<blocks, targets, 0, stream>>>(task);
    else
        cell_pair_kernel<D, Real, false><<<blocks, targets, 0, stream>>>(task);
    check_launch("summing pairs");
}

} // namespace farfield::cuda
