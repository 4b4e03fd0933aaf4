// The targets of one item in registers, and what sources staged in shared memory do to them. Lane l of a warp
// holds targets l mod 4, 4 + l mod 4, …, and meets the sources of places l/4, 8 + l/4, …: one 16-byte read
// serves all targets of a lane. A lane thus adds up every eighth source, so its float sums are short.
#pragma once

#include "sums/direct/cuda/blocks/block_sum.cuh"
#include "sums/direct/cuda/blocks/plan.h"
#include "sums/kernels/loop_outputs.h"

#include <cstdint>

namespace farfield::cuda {

/// Differences are as good as the points in registers and shared memory.
struct AsRounded {
    static constexpr bool mends = false;
};

/// Floats count points from the centre of a block; pairs far closer than the block is wide are read again, in
/// double. They are few: a lane remembers in which steps it met some, and adds afterwards what double makes
/// of them less what float made; or, where a formula says so, each is mended before it is added.
/// @tparam in_box  sources may be images of those in memory
template <bool in_box>
struct ClosePairs {
    static constexpr bool mends = true;

    const Vec4<double>* targets; ///< from the lane's first on
    const Vec4<double>* sources;
    const std::int32_t* staged; ///< which sources are in shared memory
    float close2;               ///< square of a distance
    float length2;              ///< as the tile has it, for pairs in double
    double period;              ///< of BlockTask

    template <class Formula>
    [[nodiscard]] __device__ auto difference(int target, std::int32_t source) const {
        const auto x = targets[target];
        const auto y = in_box ? nearest_to(x, sources[source], period) : sources[source];
        return Formula::template difference<float>(x, y);
    }
};

/// @tparam Formula  what a pair is: `SpacePairs` has the members
template <class Real, int outputs, int per_lane, class Formula>
class PairTile {
    using Difference = typename Formula::template Difference<Real>;
    using Terms = typename Formula::template Terms<Real>;
    using Sum = typename Formula::template Sum<Real, outputs>;
    static constexpr int together = Formula::template together<Real>;
    static constexpr bool mends_later = Formula::mends_later;

    Vec4<Real> target_[per_lane];
    Sum sum_[per_lane];
    const Real length2_; ///< a square of the formula's own length, or its inverse

    struct Pairs {
        Difference d[together];
        Real r2[together];
        Terms terms[together];
    };

    // Targets r0 to r0 + together with q; with `own` the target at `itself`, counted in fours, is left out.
    // `staged`: the place of q in shared memory.
    template <bool own, class Close>
    __device__ __forceinline__ Pairs meet(const Vec4<Real>& q, int r0, int itself, const Close& close,
                                          int staged) const {
        Pairs pairs;
#pragma unroll
        for (int h = 0; h < together; ++h)
            if (r0 + h < per_lane) {
                const Vec4<Real>& x = target_[r0 + h];
                pairs.d[h] = Formula::template difference<Real>(x, q);
                pairs.r2[h] = Formula::squared_length(pairs.d[h], length2_);
            }
        if constexpr (Close::mends && !mends_later) mend<own>(pairs, r0, itself, close, staged);
#pragma unroll
        for (int h = 0; h < together; ++h)
            if (r0 + h < per_lane) pairs.terms[h] = Formula::template terms<outputs>(pairs.r2[h], length2_);
#pragma unroll
        for (int h = 0; h < together; ++h)
            if (own && r0 + h < per_lane && itself == target_lanes * (r0 + h))
                pairs.terms[h] = {Real(0), Real(0)};
        return pairs;
    }

    /// The least r² of these pairs, and what was the least; floats that are positive are in the order of
    /// their bits.
    template <bool own>
    __device__ __forceinline__ float least_of(const Pairs& pairs, int r0, int itself, float least) const {
        float r2[together];
#pragma unroll
        for (int h = 0; h < together; ++h) {
            r2[h] = least;
            if (r0 + h < per_lane && !(own && itself == target_lanes * (r0 + h))) r2[h] = pairs.r2[h];
        }
#pragma unroll
        for (int h = 0; h < together; h += 2)
            least = __int_as_float(
                __vimin3_s32(__float_as_int(least), __float_as_int(r2[h]), __float_as_int(r2[h + 1])));
        return least;
    }

    /// Adds what pairs in double exceed those in float by, where they are close.
    template <bool own, class Close>
    __device__ __forceinline__ void mend_step(const Vec4<Real>& q, int itself, const Close& close,
                                              int staged) {
#pragma unroll
        for (int r = 0; r < per_lane; ++r) {
            const auto rounded = Formula::template difference<Real>(target_[r], q);
            const Real rounded2 = Formula::squared_length(rounded, length2_);
            if (!(rounded2 < close.close2) || (own && itself == target_lanes * r)) continue;
            const auto exact = close.template difference<Formula>(target_lanes * r, close.staged[staged]);
            const Real exact2 = Formula::squared_length(exact, close.length2);
            sum_[r].add(exact, q, Formula::template terms<outputs>(exact2, close.length2));
            sum_[r].add(rounded, Formula::opposite(q), Formula::template terms<outputs>(rounded2, length2_));
        }
    }

    template <bool own, class Close>
    __device__ __forceinline__ void mend(Pairs& pairs, int r0, int itself, const Close& close,
                                         int staged) const {
        const auto is_close = [&](int h) {
            return r0 + h < per_lane && pairs.r2[h] < close.close2 &&
                   !(own && itself == target_lanes * (r0 + h));
        };
        bool any = false;
#pragma unroll
        for (int h = 0; h < together; ++h) any = any || is_close(h);
        if (!any) return;
#pragma unroll
        for (int h = 0; h < together; ++h)
            if (is_close(h)) {
                pairs.d[h] =
                    close.template difference<Formula>(target_lanes * (r0 + h), close.staged[staged]);
                pairs.r2[h] = Formula::squared_length(pairs.d[h], length2_);
            }
    }

public:
    /// `first`: place in the item of the lane's first target.
    __device__ __forceinline__ PairTile(const Vec4<Real>* targets, int first, int count, Real length2)
        : length2_(length2) {
#pragma unroll
        for (int r = 0; r < per_lane; ++r) {
            const int i = first + target_lanes * r;
            target_[r] = i < count ? targets[i] : Formula::template nothing<Real>(1);
        }
    }

    /// Sources act on the targets. `itself`: what this lane's first source place exceeds the place of its
    /// first target by, in the same count.
    template <bool own, class Close>
    __device__ __forceinline__ void one_sided(const Vec4<Real>* staged, int count, int lane_source,
                                              int itself, const Close& close) {
        constexpr bool notes = Close::mends && mends_later;
        unsigned close_steps = 0, step = 1;
#pragma unroll 1
        for (int k = 0; k < count; k += source_lanes) {
            const Vec4<Real> q = staged[k + lane_source];
            Real least{};
            if constexpr (notes) least = close.close2;
#pragma unroll
            for (int r0 = 0; r0 < per_lane; r0 += together) {
                const Pairs pairs = meet<own>(q, r0, itself + k, close, k + lane_source);
                if constexpr (notes) least = least_of<own>(pairs, r0, itself + k, least);
#pragma unroll
                for (int h = 0; h < together; ++h)
                    if (r0 + h < per_lane) sum_[r0 + h].add(pairs.d[h], q, pairs.terms[h]);
            }
            if constexpr (notes) {
                if (least < close.close2) close_steps |= step;
                step <<= 1;
            }
        }
        if constexpr (notes) {
#pragma unroll 1
            for (; close_steps != 0; close_steps &= close_steps - 1) {
                const int k = source_lanes * (__ffs(static_cast<int>(close_steps)) - 1);
                mend_step<own>(staged[k + lane_source], itself + k, close, k + lane_source);
            }
            __syncwarp();
        }
    }

    /// The source acts on the targets and they on it: returns what this lane's targets give.
    __device__ __forceinline__ Sum mutual(const Vec4<Real>& q) {
        Sum partner;
#pragma unroll
        for (int r0 = 0; r0 < per_lane; r0 += together) {
            const Pairs pairs = meet<false>(q, r0, 0, AsRounded{}, 0);
#pragma unroll
            for (int h = 0; h < together; ++h)
                if (r0 + h < per_lane) {
                    sum_[r0 + h].add(pairs.d[h], q, pairs.terms[h]);
                    partner.add_opposite(pairs.d[h], target_[r0 + h], pairs.terms[h]);
                }
        }
        return partner;
    }

    /// Adds up the lanes with the same targets, and stores.
    __device__ __forceinline__ void store(Vec4<Real>* sums, int first, int count, int lane_source) {
#pragma unroll
        for (int r = 0; r < per_lane; ++r) {
            Vec4<Real> value = sum_[r].value();
#pragma unroll
            for (int step = target_lanes; step < 32; step *= 2) {
                if constexpr (Sum::used & 1) value.x += __shfl_xor_sync(~0U, value.x, step);
                if constexpr (Sum::used & 2) value.y += __shfl_xor_sync(~0U, value.y, step);
                if constexpr (Sum::used & 4) value.z += __shfl_xor_sync(~0U, value.z, step);
                if constexpr (Sum::used & 8) value.w += __shfl_xor_sync(~0U, value.w, step);
            }
            const int i = first + target_lanes * r;
            if (lane_source == 0 && i < count) sums[i] = value;
        }
    }
};

/// Adds up a source's sums over the four lanes that met it: lane l gets component l mod 4 (x, y, z,
/// potential) for three shuffles.
template <class Real>
__device__ __forceinline__ Real component_of_four(const Vec4<Real>& value) {
    const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
    Real low = odd ? value.y : value.x, high = odd ? value.w : value.z;
    low += __shfl_xor_sync(~0U, odd ? value.x : value.y, 1);
    high += __shfl_xor_sync(~0U, odd ? value.z : value.w, 1);
    return (upper ? high : low) + __shfl_xor_sync(~0U, upper ? low : high, 2);
}

} // namespace farfield::cuda
