// A warp takes 32 targets, neighbours in the order of boxes, a lane each, and of them at a time those that
// lie together. Sources of each row of boxes within the cut-off follow one another; those within reach of the
// targets' own box are gathered in shared memory.
#include "sums/gauss/cuda/cell_pairs.cuh"

#include "backend/cuda/check.h"

#include <cuda_runtime.h>

#include <type_traits>

namespace farfield::cuda {
namespace {

constexpr unsigned every_lane = 0xFFFFFFFFU;
constexpr int pair_warps = 4;

template <class Real>
struct GatheredSource {
    Vec4<Real> at; ///< from the centre of the targets, in units in which a Gaussian is 2^−r²; the strength
    int number;
};

__device__ inline float power_of_two(float x) {
    float out = 0.0F;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}
__device__ inline double power_of_two(double x) { return exp2(x); }

/// Sums of a lane's target: of some terms in Real, of all in double.
template <class Real, bool with_gradient>
struct PairSums {
    static constexpr int columns = with_gradient ? 4 : 1;
    double total[columns] = {};

    __device__ void add(const GatheredSource<Real>* sources, int count, const Vec4<Real>& target, int own) {
        Real part[columns] = {};
#pragma unroll 4
        for (int k = 0; k < count; ++k) {
            const auto source = sources[k].at;
            const Real dx = target.x - source.x, dy = target.y - source.y, dz = target.z - source.z;
            const Real r2 = fma(dx, dx, fma(dy, dy, dz * dz));
            const Real weight = sources[k].number == own ? Real(0) : source.w * power_of_two(-r2);
            part[0] += weight;
            if constexpr (with_gradient) {
                part[1] = fma(weight, dx, part[1]);
                part[2] = fma(weight, dy, part[2]);
                part[3] = fma(weight, dz, part[3]);
            }
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
struct TargetBox {
    double low[3], high[3];

    __device__ TargetBox(const Vec4<double>& at, bool counts) {
        const double x[3] = {at.x, at.y, at.z};
        for (int k = 0; k < 3; ++k) {
            low[k] = least_over_lanes(counts ? x[k] : HUGE_VAL);
            high[k] = -least_over_lanes(counts ? -x[k] : HUGE_VAL);
        }
    }
    [[nodiscard]] __device__ double centre(int k) const { return 0.5 * (low[k] + high[k]); }
};

struct SourceRange {
    int begin, end;
};

/// Rows of boxes along the first axis that the cut-off about a target box may reach.
struct NearRows {
    std::int64_t low[3], count[3];

    __device__ NearRows(const CellPairTask& task, const TargetBox& box) {
        for (int k = 0; k < 3; ++k) {
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
    [[nodiscard]] __device__ std::int64_t rows() const { return count[1] * count[2]; }

    [[nodiscard]] __device__ SourceRange sources(const CellPairTask& task, const TargetBox& box,
                                                 std::int64_t row) const {
        const std::int64_t at[3] = {0, low[1] + row % count[1], low[2] + row / count[1]};
        double left2 = task.cutoff * task.cutoff;
        for (int k = 1; k < 3; ++k) {
            // boxes at either end hold all that lies beyond
            const double from = static_cast<double>(at[k]) * task.lattice.side[k],
                         to = from + task.lattice.side[k];
            const double above = at[k] > 0 ? from - box.high[k] : 0.0;
            const double below = at[k] + 1 < task.lattice.count[k] ? box.low[k] - to : 0.0;
            const double gap = fmax(0.0, fmax(above, below) - 1e-9 * task.lattice.side[k]);
            left2 -= gap * gap;
        }
        if (left2 < 0.0) return {0, 0};
        const auto first =
            (static_cast<std::uint64_t>(at[2]) * static_cast<std::uint64_t>(task.lattice.count[1]) +
             static_cast<std::uint64_t>(at[1])) *
                static_cast<std::uint64_t>(task.lattice.count[0]) +
            static_cast<std::uint64_t>(low[0]);
        return {
            lower_bound(task.source_keys, task.source_count, first),
            lower_bound(task.source_keys, task.source_count, first + static_cast<std::uint64_t>(count[0]))};
    }
};

template <class Real, bool with_gradient>
class CellPairs {
    const CellPairTask& task_;
    GatheredSource<Real>* gathered_;
    int filled_ = 0;
    unsigned long long pairs_ = 0;
    double scale_; ///< 2^−(scale·r)² is the Gaussian

    __device__ Vec4<Real> seen(const Vec4<double>& at, const TargetBox& box) const {
        return {static_cast<Real>(scale_ * (at.x - box.centre(0))),
                static_cast<Real>(scale_ * (at.y - box.centre(1))),
                static_cast<Real>(scale_ * (at.z - box.centre(2))), static_cast<Real>(at.w)};
    }
    __device__ bool is_near(const Vec4<double>& at, const TargetBox& box) const {
        const double x[3] = {at.x, at.y, at.z};
        double r2 = 0.0;
        for (int k = 0; k < 3; ++k) {
            const double gap = fmax(0.0, fmax(box.low[k] - x[k], x[k] - box.high[k]));
            r2 += gap * gap;
        }
        return r2 <= task_.cutoff * task_.cutoff;
    }
    __device__ void gather(int j, int end, const TargetBox& box) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        const Vec4<double> at = j < end ? task_.sources[j] : Vec4<double>{};
        const bool near = j < end && is_near(at, box);
        const unsigned which = __ballot_sync(every_lane, near);
        if (near) gathered_[filled_ + __popc(which & ((1U << lane) - 1U))] = {seen(at, box), j};
        filled_ += __popc(which);
    }

public:
    __device__ CellPairs(const CellPairTask& task, GatheredSource<Real>* gathered)
        : task_(task), gathered_(gathered), scale_(sqrt(0.72134752044448170) / task.sigma) {}

    /// Adds what sources within reach do to the targets of the box, for lanes that are `active`.
    __device__ void add(const Vec4<double>& target, bool active, int own,
                        PairSums<Real, with_gradient>& sums) {
        const TargetBox box(target, active);
        const NearRows rows(task_, box);
        const Vec4<Real> here = seen(target, box);
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

template <bool with_gradient, class Real>
__device__ void write_pairs(const CellPairTask& task, int i, const PairSums<Real, with_gradient>& sums,
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
        for (int k = 0; k < d; ++k) {
            const double value = scalbn(factor * sums.total[1 + k], task.gradient_exponent);
            task.gradient[d * row + k] = value;
            finite = finite && isfinite(value);
        }
    }
    if (!finite) *task.not_finite = 1; // whoever writes, writes the same
}

template <class Real, bool with_gradient>
__global__ void __launch_bounds__(32 * pair_warps)
    cell_pair_kernel(const __grid_constant__ CellPairTask task) {
    __shared__ GatheredSource<Real> gathered[pair_warps][64];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const int first = (static_cast<int>(blockIdx.x) * pair_warps + warp) * 32;
    if (first >= task.target_count) return;
    const int i = first + lane;
    const bool is_target = i < task.target_count;
    const Vec4<double> target = task.targets[is_target ? i : first];
    CellPairs<Real, with_gradient> loop(task, gathered[warp]);
    PairSums<Real, with_gradient> sums;
    for (unsigned left = __ballot_sync(every_lane, is_target); left != 0;) {
        const int leader = __ffs(static_cast<int>(left)) - 1;
        const double apart[3] = {target.x - __shfl_sync(every_lane, target.x, leader),
                                 target.y - __shfl_sync(every_lane, target.y, leader),
                                 target.z - __shfl_sync(every_lane, target.z, leader)};
        bool together = (left >> lane & 1U) != 0;
        for (int k = 0; k < 3; ++k) together = together && fabs(apart[k]) <= task.cutoff;
        loop.add(target, together, task.without_own ? i : -1, sums);
        left &= ~__ballot_sync(every_lane, together);
    }
    if (is_target) write_pairs<with_gradient>(task, i, sums, loop.scale());
    if (lane == 0) atomicAdd(task.pairs, loop.pairs());
}

} // namespace

template <class Real>
void add_cell_pairs(const CellPairTask& task, cudaStream_t stream) {
    if (task.target_count == 0) return;
    constexpr int targets = 32 * pair_warps;
    const int blocks = (task.target_count + targets - 1) / targets;
    if (task.gradient != nullptr)
        cell_pair_kernel<Real, true><<<blocks, targets, 0, stream>>>(task);
    else
        cell_pair_kernel<Real, false><<<blocks, targets, 0, stream>>>(task);
    check_launch("summing pairs");
}
template void add_cell_pairs<float>(const CellPairTask&, cudaStream_t);
template void add_cell_pairs<double>(const CellPairTask&, cudaStream_t);

} // namespace farfield::cuda
