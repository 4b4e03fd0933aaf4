// The kernel of points in the plane in float, one-sided and with close pairs taken in double. A warp takes an
// item. It stages the points of its own block and of all partners in shared memory, as many as fit, and goes
// through the item's targets, rows of four of them and up to four rows at a time: lane l meets the targets of
// places l mod 4 in the rows with the sources of places l/4, 8 + l/4, … Blocks of all sizes thus share three
// loops: caches of instructions are small. Lengths count from the centre of the block, in the power of two
// below its width, so that the product of two r² is a float.
//
// A lane remembers the steps in which the least r² was that of a close pair, and goes through their pairs
// again afterwards. What double makes of a close pair less what float made is added then; r² gets a tiny
// number so that what float makes is finite.
#pragma once

#include "sums/direct/cuda/blocks/block_sum.cuh"
#include "sums/direct/cuda/blocks/plane_pairs.cuh"
#include "sums/points/framed_point.cuh"

#include <cstdint>

namespace farfield::cuda {

constexpr int staged_plane_sources = 288;
constexpr int sources_together = 2 * source_lanes; ///< two of a lane: one quotient serves both
constexpr int runs_together = 5;                   ///< whose points are read before they are written
constexpr int most_rows = 4;                       ///< of targets, that a lane holds at a time
constexpr int plane_resident_warps = 24;
constexpr float least_plane_r2 = 1e-15F;

/// A partner's points in the stream of sources of an item.
struct alignas(16) PlaneRun {
    std::int32_t end;  ///< one past its last place in the stream
    std::int32_t from; ///< to be added to a place: index of the point
    float x, y;        ///< of the partner's centre, from that of the block
};

static_assert(staged_plane_sources / sources_together <= 32, "a bit for each step");

struct StagedPlane {
    Vec4<float> source[staged_plane_sources];
    PlaneRun run[32];
};

template <bool is_complex, int outputs>
class PlaneItem {
    static constexpr bool with_field = (outputs & field_only) != 0;
    static constexpr bool with_potential = (outputs & potential_only) != 0;

    /// Of a target.
    struct Sum {
        float x = 0, y = 0, real = 0, imaginary = 0;

        __device__ __forceinline__ void add_logarithm(const Vec4<float>& source, float log) {
            real = fmaf(source.z, log, real);
            if constexpr (is_complex) imaginary = fmaf(source.w, log, imaginary);
        }
        __device__ __forceinline__ void add_field(const Vec4<float>& source, float dx, float dy,
                                                  float inverse) {
            add_share(dx, dy, source.z * inverse);
            if constexpr (is_complex) {
                const float share = source.w * inverse;
                x = fmaf(share, dy, x);
                y = fmaf(-share, dx, y);
            }
        }
        __device__ __forceinline__ void add_share(float dx, float dy, float share) {
            x = fmaf(share, dx, x);
            y = fmaf(share, dy, y);
        }
        /// The same numbers in all lanes that differ in these bits.
        __device__ __forceinline__ void add_lanes(int first, int end) {
            for (int step = first; step < end; step *= 2) {
                if constexpr (with_field) {
                    x += __shfl_xor_sync(~0U, x, step);
                    y += __shfl_xor_sync(~0U, y, step);
                }
                if constexpr (with_potential) real += __shfl_xor_sync(~0U, real, step);
                if constexpr (with_potential && is_complex)
                    imaginary += __shfl_xor_sync(~0U, imaginary, step);
            }
        }
    };

    struct Point {
        float x, y;
    };
    struct Pair {
        float dx, dy, r2;
        __device__ __forceinline__ Pair(const Point& target, const Vec4<float>& source)
            : dx(target.x - source.x), dy(target.y - source.y),
              r2(fmaf(dx, dx, fmaf(dy, dy, least_plane_r2))) {}
    };

    const BlockTask<float>& task_;
    const BlockItem& item_;
    StagedPlane& staged_;
    const int lane_ = static_cast<int>(threadIdx.x);
    const int lane_source_ = lane_ / target_lanes, lane_target_ = lane_ % target_lanes;
    int exponent_; ///< of the unit of length
    float scale_, close2_;

    __device__ __forceinline__ static int padded(int count) {
        return (count + sources_together - 1) / sources_together * sources_together;
    }

    /// The block itself, if it is among its sources, and partners from `e` on, as many as a warp has lanes.
    /// Returns how many points they hold.
    __device__ __forceinline__ int list_runs(int e, int end, bool own) {
        PlaneRun run{0, 0, 0.0F, 0.0F};
        int begin = 0, size = 0;
        const int number = e + lane_ - (own ? 1 : 0);
        if (number < end) {
            const int block = own && lane_ == 0 ? item_.block : task_.partners[number];
            const BlockRange range = task_.source_blocks[block];
            begin = range.begin;
            size = range.end - range.begin;
            const Vec4<double> from = task_.source_centres[block];
            const Vec4<double> to = task_.target_centres[item_.block];
            run.x = scale_ * static_cast<float>(from.x - to.x);
            run.y = scale_ * static_cast<float>(from.y - to.y);
        }
        int place = size;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const int before = __shfl_up_sync(~0U, place, step);
            if (lane_ >= step) place += before;
        }
        run.end = place;
        run.from = begin - (place - size);
        staged_.run[lane_] = run;
        __syncwarp();
        return __shfl_sync(~0U, place, 31);
    }

    /// Places [begin, end) of the stream; `run` is that of the first one, and becomes that of the next place.
    /// Returns Σ of their strengths.
    __device__ __forceinline__ Sum stage(int begin, int end, int& run) {
        Sum strength;
        int place = begin;
        while (place < end) {
            Vec4<float> point[runs_together];
            int at[runs_together];
#pragma unroll
            for (int u = 0; u < runs_together; ++u) {
                at[u] = -1;
                if (place >= end) continue;
                const PlaneRun of = staged_.run[run];
                const int mine = place + lane_, stop = min(of.end, end);
                if (mine < stop) {
                    const auto p = __ldg(reinterpret_cast<const float4*>(task_.sources) + mine + of.from);
                    point[u] = {fmaf(p.x, scale_, of.x), fmaf(p.y, scale_, of.y), p.z, p.w};
                    at[u] = mine - begin;
                }
                place = min(place + 32, stop);
                if (place == of.end && run < 31) ++run;
            }
#pragma unroll
            for (int u = 0; u < runs_together; ++u)
                if (at[u] >= 0) {
                    staged_.source[at[u]] = point[u];
                    strength.add_logarithm(point[u], 1.0F);
                }
        }
        const int rest = end - begin + lane_;
        if (rest < padded(end - begin)) staged_.source[rest] = {1e3F, 1e3F, 0.0F, 0.0F};
        __syncwarp();
        strength.add_lanes(1, 32);
        return strength;
    }

    /// Sources in shared memory, from place `begin` of the stream on.
    struct Stage {
        int begin, count;
        int of_own;   ///< the first ones, in whole steps, may be targets
        int self;     ///< place of the item's first target among them
        bool own;     ///< the block is among its sources
        bool first;   ///< sums are set, not added to
        Sum strength; ///< of all of them
    };

    struct Rows {
        Point at[most_rows];
        Sum sum[most_rows];
        unsigned close = 0; ///< a bit for each step with a close pair
    };

    /// The least r²; floats that are positive are in the order of their bits.
    __device__ __forceinline__ static void note(float& least, const Pair& a, const Pair& b) {
        least =
            __int_as_float(__vimin3_s32(__float_as_int(least), __float_as_int(a.r2), __float_as_int(b.r2)));
    }

    /// A source and two targets.
    __device__ __forceinline__ static void add_two(const Vec4<float>& q, const Pair& a, const Pair& b,
                                                   Sum& of_a, Sum& of_b) {
        if constexpr (with_field && is_complex) {
            const auto inverse = plane::two_inverses(a.r2, b.r2, 1.0F);
            of_a.add_field(q, a.dx, a.dy, inverse.first);
            of_b.add_field(q, b.dx, b.dy, inverse.second);
        } else if constexpr (with_field) {
            const auto share = plane::two_inverses(a.r2, b.r2, q.z);
            of_a.add_share(a.dx, a.dy, share.first);
            of_b.add_share(b.dx, b.dy, share.second);
        }
        add_logarithms(q, a, of_a);
        add_logarithms(q, b, of_b);
    }

    /// Two sources and a target.
    __device__ __forceinline__ static void add_two(const Vec4<float> (&q)[2], const Pair& a, const Pair& b,
                                                   Sum& sum) {
        if constexpr (with_field) {
            const auto inverse = plane::two_inverses(a.r2, b.r2, 1.0F);
            sum.add_field(q[0], a.dx, a.dy, inverse.first);
            sum.add_field(q[1], b.dx, b.dy, inverse.second);
        }
        add_logarithms(q[0], a, sum);
        add_logarithms(q[1], b, sum);
    }

    __device__ __forceinline__ static void add_logarithms(const Vec4<float>& q, const Pair& pair, Sum& sum) {
        if constexpr (with_potential) sum.add_logarithm(q, plane::log2_of(pair.r2));
    }

    /// Places [begin, end) of what is staged with some rows of targets. `self`: place of the lane's target of
    /// the first row among them.
    template <bool own, int count>
    __device__ __forceinline__ void meet(Rows& rows, int begin, int end, int self) {
        unsigned step = 1U << (begin / sources_together);
#pragma unroll 1
        for (int k = begin + lane_source_; k < end + lane_source_; k += sources_together) {
            const Vec4<float> q[2] = {staged_.source[k], staged_.source[k + source_lanes]};
            const auto pair = [&](int r, int u) {
                Pair out(rows.at[r], q[u]);
                // ln r² is 0 in the caller's lengths
                if (own && k + u * source_lanes == self + target_lanes * r)
                    out.r2 = __int_as_float((127 - 2 * exponent_) << 23);
                return out;
            };
            float least = close2_;
#pragma unroll
            for (int u = 0; u < 2; ++u)
#pragma unroll
                for (int r = 0; r + 1 < count; r += 2) {
                    const Pair a = pair(r, u), b = pair(r + 1, u);
                    note(least, a, b);
                    add_two(q[u], a, b, rows.sum[r], rows.sum[r + 1]);
                }
            if constexpr (count % 2 != 0) {
                const Pair a = pair(count - 1, 0), b = pair(count - 1, 1);
                note(least, a, b);
                add_two(q, a, b, rows.sum[count - 1]);
            }
            if (least < close2_) rows.close |= step;
            step <<= 1;
        }
    }

    __device__ __forceinline__ Point target(int i) const {
        if (i >= item_.count) return {-1e3F, -1e3F};
        const Vec4<float> at = task_.targets[item_.first + i];
        return {scale_ * at.x, scale_ * at.y};
    }

    /// Index of the point at a place of the stream.
    __device__ int index_of(int place) const {
        int run = 0;
        while (place >= staged_.run[run].end) ++run;
        return place + staged_.run[run].from;
    }

    /// In the frame; @param points  in the order of the tree, or null
    [[nodiscard]] __device__ __forceinline__ Vec4<double> exact(const Vec4<double>* points, int i) const {
        if (points != nullptr) return points[i];
        return framed_point(task_.given.points, task_.given.from[i], 2, task_.given.frame);
    }

    /// Adds what a pair in double exceeds the one in float by, if it is close.
    __device__ __forceinline__ void mend(Sum& sum, const Point& at, int i, int k, const Stage& stage) const {
        const Vec4<float> q = staged_.source[k];
        const Pair pair(at, q);
        if (!(pair.r2 < close2_) || i >= item_.count) return;
        const int to = item_.first + i, from = index_of(stage.begin + k);
        if (stage.own && to == from) return;
        const auto x = exact(task_.exact_targets, to), y = exact(task_.exact_sources, from);
        const float dx = scale_ * static_cast<float>(x.x - y.x), dy = scale_ * static_cast<float>(x.y - y.y);
        const float r2 = fmaf(dx, dx, dy * dy);
        if constexpr (with_field) {
            sum.add_field(q, dx, dy, plane::inverse(r2));
            sum.add_field(q, pair.dx, pair.dy, -plane::inverse(pair.r2));
        }
        if constexpr (with_potential) sum.add_logarithm(q, plane::log2_of(r2) - plane::log2_of(pair.r2));
    }

    /// Some rows with all that is staged. `first`: the lane's target of the first row.
    template <int count>
    __device__ __forceinline__ void meet_all(Rows& rows, int first, const Stage& stage) {
        meet<true, count>(rows, 0, stage.of_own, stage.self + first);
        meet<false, count>(rows, stage.of_own, padded(stage.count), 0);
#pragma unroll 1
        for (; rows.close != 0; rows.close &= rows.close - 1) {
            const int step = __ffs(static_cast<int>(rows.close)) - 1;
#pragma unroll 1
            for (int k = sources_together * step + lane_source_; k < sources_together * (step + 1);
                 k += source_lanes)
#pragma unroll
                for (int r = 0; r < count; ++r)
                    mend(rows.sum[r], rows.at[r], first + target_lanes * r, k, stage);
        }
        __syncwarp();
    }

    /// A component of four rows: lanes get that of row (lane source)/2.
    __device__ __forceinline__ float row_of_four(float a, float b, float c, float d) const {
        const bool upper = (lane_source_ & 4) != 0, odd = (lane_source_ & 2) != 0;
        float first = upper ? c : a, second = upper ? d : b;
        first += __shfl_xor_sync(~0U, upper ? a : c, 4 * target_lanes);
        second += __shfl_xor_sync(~0U, upper ? b : d, 4 * target_lanes);
        const float sum =
            (odd ? second : first) + __shfl_xor_sync(~0U, odd ? first : second, 2 * target_lanes);
        return sum + __shfl_xor_sync(~0U, sum, target_lanes);
    }

    __device__ __forceinline__ void store(const Rows& rows, int row, int taken, const Stage& stage) {
        Sum sum;
        const auto& of = rows.sum;
        if constexpr (with_field) {
            sum.x = row_of_four(of[0].x, of[1].x, of[2].x, of[3].x);
            sum.y = row_of_four(of[0].y, of[1].y, of[2].y, of[3].y);
        }
        if constexpr (with_potential) sum.real = row_of_four(of[0].real, of[1].real, of[2].real, of[3].real);
        if constexpr (with_potential && is_complex)
            sum.imaginary = row_of_four(of[0].imaginary, of[1].imaginary, of[2].imaginary, of[3].imaginary);
        const int own = lane_source_ / 2, i = target_lanes * (row + own) + lane_target_;
        if (lane_source_ % 2 != 0 || own >= taken || i >= item_.count) return;
        const float of_unit = static_cast<float>(2 * exponent_), unit = plane::unit_of_log<float>;
        Vec4<float> value = {scale_ * sum.x, scale_ * sum.y,
                             unit * fmaf(of_unit, stage.strength.real, sum.real),
                             unit * fmaf(of_unit, stage.strength.imaginary, sum.imaginary)};
        Vec4<float>& to = task_.sums[item_.first + i];
        if (!stage.first) value = {to.x + value.x, to.y + value.y, to.z + value.z, to.w + value.w};
        to = value;
    }

    /// All targets with what is staged.
    __device__ __forceinline__ void meet_rows(const Stage& stage) {
        const int count = (item_.count + target_lanes - 1) / target_lanes;
#pragma unroll 1
        for (int row = 0, taken = 0; row < count; row += taken) {
            const int left = count - row;
            taken = left == 3 || left == 5 || left == 6 ? 3 : min(left, most_rows);
            Rows rows;
#pragma unroll
            for (int r = 0; r < most_rows; ++r) rows.at[r] = target(target_lanes * (row + r) + lane_target_);
            const int first = target_lanes * row + lane_target_;
            if (taken == 4)
                meet_all<4>(rows, first, stage);
            else if (taken == 3)
                meet_all<3>(rows, first, stage);
            else
                meet_all<2>(rows, first, stage);
            store(rows, row, taken, stage);
        }
    }

public:
    __device__ __forceinline__ PlaneItem(const BlockTask<float>& task, const BlockItem& item,
                                         StagedPlane& staged)
        : task_(task), item_(item), staged_(staged) {
        const auto width = static_cast<float>(task.target_centres[item.block].w);
        exponent_ = (__float_as_int(width) >> 23) - 127;
        scale_ = __int_as_float((127 - exponent_) << 23);
        close2_ = task.close * scale_ * width;
        close2_ *= close2_;
    }

    __device__ __forceinline__ void run() {
        const int end = task_.last[item_.block];
        const BlockRange block = task_.target_blocks[item_.block];
        bool own = task_.own, first = true;
        int e = task_.first[item_.block];
        do {
            const int total = list_runs(e, end, own);
            const int size = own ? block.end - block.begin : 0; // of the stream are the block's own
            int run = 0, begin = 0;
            do {
                Stage now{.begin = begin, .count = min(staged_plane_sources, total - begin), .own = own};
                now.of_own = padded(min(max(size - begin, 0), now.count));
                now.self = item_.first - block.begin - begin;
                now.first = first;
                now.strength = stage(begin, begin + now.count, run);
                meet_rows(now);
                __syncwarp();
                first = false;
                begin += staged_plane_sources;
            } while (begin < total);
            e += own ? 31 : 32;
            own = false;
        } while (e < end);
    }
};

/// @param items  null: each block is one
template <bool is_complex, int outputs>
__global__ void __launch_bounds__(32, plane_resident_warps)
    plane_points_kernel(const BlockTask<float> task, const BlockItem* items) {
    __shared__ StagedPlane staged;
    BlockItem item;
    if (items != nullptr) {
        item = items[blockIdx.x];
    } else {
        const BlockRange range = task.target_blocks[blockIdx.x];
        item = {static_cast<std::int32_t>(blockIdx.x), range.begin, range.end - range.begin, 0};
    }
    if (item.count == 0) return;
    PlaneItem<is_complex, outputs>(task, item, staged).run();
}

} // namespace farfield::cuda
