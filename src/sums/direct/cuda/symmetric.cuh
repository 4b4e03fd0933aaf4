// Each pair once, with fixed bits. The bodies are cut into tiles, a tile into strips of 32·R bodies, one
// strip a warp. A block takes two tiles I and J: each warp keeps its strip of I in registers, R bodies a
// lane, and meets the strips of J in W rounds, warp w the strip (w + round) mod W. So no two warps hold a
// strip of J at the same time, and its sums grow in shared memory in an order that never changes, without
// atomics. Within a meeting, 32 bodies of J rotate through the lanes with the sums that they collect. Tiles
// meet like players of a tournament: J = I + distance around a ring, distances 0 to tiles/2. Each (tile,
// distance) leaves one partial sum a body and side in the workspace; tree.cuh adds them in a fixed order.
#pragma once

#include "sums/direct/cuda/pair.cuh"
#include "sums/direct/cuda/several/division.h"

namespace farfield::cuda {

/// Shape of the kernel: R bodies a lane, W warps a block, rotations unrolled, and whether the bodies of J are
/// read again from shared memory at each rotation (`staged`) or shuffled from lane to lane.
template <int targets_per_lane, int warps_per_block, int unroll_steps, bool stage>
struct SymmetricShape {
    static constexpr int per_lane = targets_per_lane, warps = warps_per_block, unroll = unroll_steps;
    static constexpr bool staged = stage;
    static constexpr int strip = 32 * per_lane, tile = strip * warps, threads = 32 * warps;
};

template <class PointType>
struct SymmetricTask {
    const PointType* points;
    int n;
    int tiles;
    int farthest; ///< distance of the first blocks of this launch; later blocks take smaller ones
    int nearest;
    typename PointType::real softening2;
    Vec4<typename PointType::real>* partials; ///< slot·(tiles·tile) + body
};

template <class Real>
__device__ __forceinline__ Real from_next_lane(Real value) {
    return __shfl_sync(0xffffffffu, value, (threadIdx.x + 1) & 31);
}

/// 32 points that pass through the lanes of a warp: lane l sees point (l + step) mod 32.
template <class PointType, bool staged>
class RotatingPoints;

template <class PointType>
class RotatingPoints<PointType, false> {
public:
    struct Storage {};
    __device__ RotatingPoints(Storage&, const PointType& mine) : now_(mine) {}
    __device__ __forceinline__ PointType get(int /*step*/) const { return now_; }
    __device__ __forceinline__ void advance() {
        rotate(now_.at);
        if constexpr (sizeof(PointType) > sizeof(now_.at)) rotate(now_.low);
    }

private:
    template <class Real>
    static __device__ __forceinline__ void rotate(Vec4<Real>& v) {
        v = {from_next_lane(v.x), from_next_lane(v.y), from_next_lane(v.z), from_next_lane(v.w)};
    }
    PointType now_;
};

// Stored twice in a row, so that step needs no modulo; in 16-byte pieces, so that no banks collide.
template <class PointType>
class RotatingPoints<PointType, true> {
    static constexpr int pieces = sizeof(PointType) / 16;

public:
    struct Storage {
        uint4 piece[pieces][64];
    };
    __device__ RotatingPoints(Storage& storage, const PointType& mine) : storage_(storage) {
        const uint4* piece = reinterpret_cast<const uint4*>(&mine);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < pieces; ++k) storage_.piece[k][lane_] = storage_.piece[k][lane_ + 32] = piece[k];
        __syncwarp();
    }
    __device__ __forceinline__ PointType get(int step) const {
        PointType point;
        uint4* piece = reinterpret_cast<uint4*>(&point);
#pragma unroll
        for (int k = 0; k < pieces; ++k) piece[k] = storage_.piece[k][lane_ + step];
        return point;
    }
    __device__ __forceinline__ void advance() {}

private:
    Storage& storage_;
    int lane_ = threadIdx.x & 31;
};

/// The work of one warp: its strip of I, and the meetings.
template <class PointType, int outputs, class Shape>
struct StripOfTargets {
    using Real = typename PointType::real;
    using Rotating = RotatingPoints<PointType, Shape::staged>;
    using Moving = Sum<Real, outputs>;
    static constexpr int per_lane = Shape::per_lane;

    PointType point[per_lane];
    Sum<Real, outputs> sum[per_lane];

    __device__ void load(const PointType* points, int first, int n) {
        const int lane = threadIdx.x & 31;
#pragma unroll
        for (int r = 0; r < per_lane; ++r) point[r] = load_or_padding(points, first + 32 * r + lane, n);
    }

    /// Meets 32 other points, one in each lane; returns the sums of this lane's one.
    __device__ __forceinline__ Moving meet(typename Rotating::Storage& storage, const PointType& other,
                                           Real softening2) {
        Rotating rotating(storage, other);
        Moving moving;
#pragma unroll Shape::unroll
        for (int step = 0; step < 32; ++step) {
            const PointType source = rotating.get(step);
#pragma unroll
            for (int r = 0; r < per_lane; ++r) {
                const auto d = difference(point[r], source);
                const auto inverse = inverse_powers<outputs>(squared_length(d, softening2));
                sum[r].add(d, source.at.w, inverse);
                moving.add_opposite(d, point[r].at.w, inverse);
            }
            rotating.advance();
            if constexpr (outputs & field_only)
                moving.x = from_next_lane(moving.x), moving.y = from_next_lane(moving.y),
                moving.z = from_next_lane(moving.z);
            if constexpr (outputs & potential_only) moving.potential = from_next_lane(moving.potential);
        }
        return moving;
    }

    /// The strip's points on each other. Both directions come by themselves; a point meets itself when its
    /// own row is the source, at step 0.
    __device__ void meet_itself(typename Rotating::Storage& storage, Real softening2) {
#pragma unroll 1
        for (int row = 0; row < per_lane; ++row) {
            PointType own = point[0];
#pragma unroll
            for (int r = 1; r < per_lane; ++r)
                if (r == row) own = point[r]; // an index known at run time would move the points to memory
            Rotating rotating(storage, own);
#pragma unroll 1
            for (int step = 0; step < 32; ++step) {
                const PointType source = rotating.get(step);
#pragma unroll
                for (int r = 0; r < per_lane; ++r) {
                    const auto d = difference(point[r], source);
                    const auto inverse = inverse_powers<outputs>(squared_length(d, softening2));
                    if (step != 0 || r != row) sum[r].add(d, source.at.w, inverse);
                }
                rotating.advance();
            }
        }
    }
};

template <class PointType, int outputs, class Shape>
constexpr int symmetric_shared_bytes() {
    using Real = typename PointType::real;
    return static_cast<int>(Shape::tile * sizeof(Vec4<Real>) +
                            Shape::warps *
                                sizeof(typename RotatingPoints<PointType, Shape::staged>::Storage));
}

/// The tiles that a block brings together.
struct Meeting {
    int distance, i, j;
    bool opposite; ///< on the ring: either tile finds the other at this distance

    [[nodiscard]] __device__ bool done_by_partner() const { return opposite && i >= distance; }
};

template <class PointType>
__device__ __forceinline__ Meeting meeting_of(const SymmetricTask<PointType>& task) {
    const int distance = task.farthest - static_cast<int>(blockIdx.x) / task.tiles;
    const int i = static_cast<int>(blockIdx.x) % task.tiles;
    const bool opposite = distance > 0 && 2 * distance == task.tiles;
    return {distance, i, (i + distance) % task.tiles, opposite};
}

/// Where the partial sums of a meeting's tiles go.
template <class Real>
struct MeetingSlots {
    Vec4<Real>*of_i, *of_j;
};

template <class PointType>
__device__ __forceinline__ MeetingSlots<typename PointType::real>
slots_of_meeting(const SymmetricTask<PointType>& task, const Meeting& meeting, int tile) {
    const long long stride = static_cast<long long>(task.tiles) * tile;
    const int slot = slot_of(meeting.distance, task.nearest);
    return {task.partials + slot * stride + static_cast<long long>(meeting.i) * tile,
            task.partials + (slot + (meeting.opposite ? 0 : 1)) * stride +
                static_cast<long long>(meeting.j) * tile};
}

template <class PointType, int outputs, class Shape>
__device__ __forceinline__ void symmetric_block(const SymmetricTask<PointType>& task,
                                                const Meeting& meeting) {
    using Real = typename PointType::real;
    using Strip = StripOfTargets<PointType, outputs, Shape>;
    extern __shared__ uint4 shared[];
    auto* side = reinterpret_cast<Vec4<Real>*>(shared); // sums of tile J
    auto& storage =
        reinterpret_cast<typename Strip::Rotating::Storage*>(side + Shape::tile)[threadIdx.x / 32];

    const int distance = meeting.distance, tile_i = meeting.i, tile_j = meeting.j;
    if (meeting.done_by_partner()) return;

    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    Strip strip;
    strip.load(task.points, tile_i * Shape::tile + warp * Shape::strip, task.n);
#pragma unroll
    for (int r = 0; r < Shape::per_lane; ++r) side[warp * Shape::strip + 32 * r + lane] = {0, 0, 0, 0};
    if (distance == 0) strip.meet_itself(storage, task.softening2);
    __syncthreads();

    // Within one tile, half of the rounds make each pair of strips meet once; W/2 is half a round for even W.
    const int first_round = distance == 0 ? 1 : 0;
    const int rounds = distance == 0 ? Shape::warps / 2 + 1 : Shape::warps;
#pragma unroll 1
    for (int round = first_round; round < rounds; ++round) {
        const int first = (warp + round) % Shape::warps * Shape::strip;
        const bool idle = distance == 0 && 2 * round == Shape::warps && warp >= round;
        PointType next = load_or_padding(task.points, tile_j * Shape::tile + first + lane, task.n);
#pragma unroll 1
        for (int row = 0; row < Shape::per_lane && !idle; ++row) {
            const int j = first + 32 * row + lane;
            const PointType other = next; // the following row is on its way while this one is computed
            next = load_or_padding(task.points, tile_j * Shape::tile + j + 32, task.n);
            Sum<Real, outputs> moving = strip.meet(storage, other, task.softening2);
            const Vec4<Real> before = side[j];
            moving += {before.x, before.y, before.z, before.w};
            side[j] = moving.value();
        }
        __syncthreads();
    }

    const auto slots = slots_of_meeting(task, meeting, Shape::tile);
#pragma unroll
    for (int r = 0; r < Shape::per_lane; ++r) {
        const int i = warp * Shape::strip + 32 * r + lane;
        if (distance == 0) {
            const Vec4<Real> within = side[i];
            strip.sum[r] += {within.x, within.y, within.z, within.w};
        } else {
            slots.of_j[i] = side[i];
        }
        slots.of_i[i] = strip.sum[r].value();
    }
}

template <class PointType, int outputs, class Shape>
__global__ void __launch_bounds__(Shape::threads) symmetric_kernel(const SymmetricTask<PointType> task) {
    symmetric_block<PointType, outputs, Shape>(task, meeting_of(task));
}

} // namespace farfield::cuda
