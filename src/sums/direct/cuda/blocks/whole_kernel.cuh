// The kernel of whole_sum.cuh: a thread block takes a block of targets, each of its warps 32 of them at a
// time, a lane a target, and meets them with the sources of all partners, 32 at a time from shared memory.
// Sums of so many sources are kept in the precision of the sum and then added to doubles.
#pragma once

#include "backend/cuda/check.h"
#include "sums/direct/cuda/blocks/whole_sum.cuh"
#include "sums/kernels/inverse_distance_whole.h"

namespace farfield::cuda {

constexpr int whole_warps = 4;

template <class Real, bool dipoles>
struct WholeStage {
    Vec4<Real> source[32];
    Vec4<Real> dipole[dipoles ? 32 : 1];
};

template <class Real, bool dipoles, bool hessian>
class WholeTargets {
    using Sums = WholeSums<Real>;
    static constexpr int numbers = hessian ? Sums::numbers : 4;

    const WholeTask<Real>& task_;
    WholeStage<Real, dipoles>& stage_;
    const int lane_ = static_cast<int>(threadIdx.x) % 32;
    const int target_; ///< of the lane; at `end_` or beyond there is none
    const int end_;
    const Vec4<Real> at_;
    Real close2_ = 0; ///< pairs closer than this are mended
    double totals_[numbers] = {};

    __device__ __forceinline__ void stage(int source, int end, const Vec4<Real>& shift) {
        __syncwarp();
        if (source < end) {
            const auto from = task_.blocks.sources[source];
            stage_.source[lane_] = {from.x + shift.x, from.y + shift.y, from.z + shift.z, from.w};
            if constexpr (dipoles) stage_.dipole[lane_] = task_.dipoles[source];
        }
        __syncwarp();
    }

    __device__ __forceinline__ Real squared_length(const Real (&d)[3]) const {
        return fma(d[0], d[0], fma(d[1], d[1], fma(d[2], d[2], task_.blocks.softening2)));
    }

public:
    __device__ __forceinline__ WholeTargets(const WholeTask<Real>& task, WholeStage<Real, dipoles>& stage,
                                            int first, int end)
        : task_(task), stage_(stage), target_(first + static_cast<int>(threadIdx.x) % 32), end_(end),
          at_(task.blocks.targets[target_ < end_ ? target_ : end_ - 1]) {}

    /// From here on; of BlockTask.
    __device__ __forceinline__ void mend_close_pairs(Real width) {
        if (task_.blocks.exact_sources != nullptr) close2_ = width * width / Real(256);
    }

    /// Sources of a range; with `own` none acts on the target of its number.
    template <bool own>
    __device__ __forceinline__ void meet(const BlockRange& range, const Vec4<Real>& shift) {
        for (int begin = range.begin; begin < range.end; begin += 32) {
            stage(begin + lane_, range.end, shift);
            Sums sums;
#pragma unroll
            for (auto& sum : sums.all) sum = Real(0);
            const int count = min(32, range.end - begin);
            for (int k = 0; k < count; ++k) {
                const auto q = stage_.source[k];
                Real d[3] = {at_.x - q.x, at_.y - q.y, at_.z - q.z};
                Real r2 = squared_length(d);
                const bool itself = own && begin + k == target_;
                if (r2 < close2_ && !itself && target_ < end_) {
                    const auto x = task_.blocks.exact_targets[target_];
                    const auto y = task_.blocks.exact_sources[begin + k];
                    d[0] = static_cast<Real>(x.x - y.x);
                    d[1] = static_cast<Real>(x.y - y.y);
                    d[2] = static_cast<Real>(x.z - y.z);
                    r2 = squared_length(d);
                }
                Real inverse = inverse_powers<potential_only>(r2).first;
                if (itself) inverse = Real(0);
                if constexpr (dipoles) {
                    const auto moment = stage_.dipole[k];
                    const Real p[3] = {moment.x, moment.y, moment.z};
                    WholeInverseDistance::add_both<hessian>(d, inverse, q.w, p, sums);
                } else {
                    WholeInverseDistance::add_charge<hessian>(d, inverse, q.w, sums);
                }
            }
#pragma unroll
            for (int n = 0; n < numbers; ++n) totals_[n] += static_cast<double>(sums.all[n]);
        }
    }

    __device__ __forceinline__ void store() const {
        if (target_ >= end_) return;
        task_.blocks.sums[target_] = {static_cast<Real>(totals_[1]), static_cast<Real>(totals_[2]),
                                      static_cast<Real>(totals_[3]), static_cast<Real>(totals_[0])};
        if constexpr (hessian)
#pragma unroll
            for (int k = 0; k < 6; ++k)
                task_.hessians[6LL * target_ + k] =
                    totals_[4 + k] - (k == 0 || k == 3 || k == 5 ? totals_[numbers - 1] : 0.0);
    }
};

template <class Real, bool dipoles, bool hessian>
__global__ void __launch_bounds__(32 * whole_warps) whole_kernel(const WholeTask<Real> task) {
    __shared__ WholeStage<Real, dipoles> stages[whole_warps];
    const auto& blocks = task.blocks;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int block = static_cast<int>(blockIdx.x);
    const BlockRange range = blocks.target_blocks[block];
    for (int first = range.begin + 32 * warp; first < range.end; first += 32 * whole_warps) {
        WholeTargets<Real, dipoles, hessian> targets(task, stages[warp], first, range.end);
        const auto to = blocks.target_centres[block];
        targets.mend_close_pairs(static_cast<Real>(to.w));
        if (blocks.own) targets.template meet<true>(range, Vec4<Real>{0, 0, 0, 0});
        for (int e = blocks.first[block]; e < blocks.last[block]; ++e) {
            const int partner = blocks.partners[e];
            const auto from = blocks.source_centres[partner];
            targets.template meet<false>(blocks.source_blocks[partner],
                                         Vec4<Real>{static_cast<Real>(from.x - to.x),
                                                    static_cast<Real>(from.y - to.y),
                                                    static_cast<Real>(from.z - to.z), Real(0)});
        }
        targets.store();
    }
}

template <class Real>
void launch_whole_blocks(const WholeTask<Real>& task, cudaStream_t stream) {
    if (task.block_count == 0) return;
    const auto launch = [&](auto kernel) {
        kernel<<<static_cast<unsigned>(task.block_count), 32 * whole_warps, 0, stream>>>(task);
    };
    if (task.dipoles == nullptr)
        launch(whole_kernel<Real, false, true>);
    else if (task.hessians != nullptr)
        launch(whole_kernel<Real, true, true>);
    else
        launch(whole_kernel<Real, true, false>);
    check_launch("the whole sum over blocks");
}

} // namespace farfield::cuda
