// The turns of an orbit as in ours.cu, with the sources of a block in shared memory: those of 32 parents and
// of the parents around them, which all 27 · 128 translations of the block read again and again.
#include "studies/m2l_2d/cuda/lanes.cuh"
#include "studies/m2l_2d/cuda/shapes.cuh"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <type_traits>

namespace farfield::m2l2d {
namespace {

constexpr int parts = 2;
// A group is a row of 32 parents, or some short rows; with the parents around them at most 3 rows of 34.
constexpr int frame = 3 * (lanes + 2), frame_pieces = (frame + lanes - 1) / lanes;

/// For targets of some quarters; sources are of all four.
template <int p, int own>
struct Stage {
    Value sources[p][quarters][frame];
    Value powers[own][orbits][p]; ///< of turn 0
    Value logs[own][list_size];
};

/// Where a group lies in its frame.
struct Frame {
    int width, rows, x, y, level, begin;

    __device__ explicit Frame(int group) {
        const Lane first(group, 0);
        level = first.level;
        begin = first.begin;
        const int axis = parents_an_axis(level), parents = parents_of_level(level);
        x = first.x;
        y = first.y;
        width = (axis < lanes ? axis : lanes) + 2;
        rows = (parents < lanes ? parents : lanes) / (width - 2) + 2;
    }
    /// The first number of quarter 0 of the parent at a place of the frame.
    __device__ int source_of(int place, int numbers) const {
        const int mask = parents_an_axis(level) - 1;
        const int there_x = (x + place % width - 1) & mask, there_y = (y + place / width - 1) & mask;
        return place_of(begin, (there_y << (level - 1)) + there_x, 0, numbers);
    }
    __device__ int place_of_lane(int lane) const {
        return (lane / (width - 2) + 1) * width + lane % (width - 2) + 1;
    }
};

template <int p, int own>
__device__ void fill(Stage<p, own>& stage, const DeviceProblem& at, const Frame& frame_at, int first_quarter,
                     int warp, int lane) {
    constexpr int warps_here = own * parts, threads = warps_here * lanes;
    int source[frame_pieces];
    const int size = frame_at.width * frame_at.rows;
#pragma unroll
    for (int piece = 0; piece < frame_pieces; ++piece)
        source[piece] = frame_at.source_of(min(piece * lanes + lane, size - 1), p);
#pragma unroll 4
    for (int number = warp; number < quarters * p; number += warps_here) { // [quarter][k]
#pragma unroll
        for (int piece = 0; piece < frame_pieces; ++piece)
            if (const int place = piece * lanes + lane; place < size)
                __pipeline_memcpy_async(&stage.sources[number % p][number / p][place],
                                        at.multipoles + source[piece] + number * lanes, sizeof(Value));
    }
    __pipeline_commit();
    const int thread = warp * lanes + lane;
    // d leads from the source: against the offset
    const auto list_of = [&](int quarter) { return ((first_quarter + quarter) ^ 2) * list_size; };
    for (int i = thread; i < own * orbits * p; i += threads) {
        const int quarter = i / (orbits * p), orbit = i / p % orbits;
        stage.powers[quarter][orbit][i % p] = at.powers[(list_of(quarter) + first_slot(orbit)) * p + i % p];
    }
    for (int i = thread; i < own * list_size; i += threads)
        stage.logs[i / list_size][i % list_size] =
            level_log(at.logs[list_of(i / list_size) + i % list_size], frame_at.level);
    __pipeline_wait_prior(0);
}

// Part 0 of a block has the full orbits, part 1 the others: about the same work.
template <int p, int own, int least_blocks>
__global__ __launch_bounds__(own* parts* lanes, least_blocks) void gather_staged_kernel(DeviceProblem at) {
    extern __shared__ double stage_memory[];
    auto& stage = *reinterpret_cast<Stage<p, own>*>(stage_memory);
    const auto lane = static_cast<int>(threadIdx.x), at_quarter = static_cast<int>(threadIdx.y),
               part = static_cast<int>(threadIdx.z), block = static_cast<int>(gridDim.x - 1 - blockIdx.x);
    const int group = block * own / quarters, first_quarter = block * own % quarters,
              quarter = first_quarter + at_quarter;
    const Frame frame_at(group);
    fill(stage, at, frame_at, first_quarter, part * own + at_quarter, lane);
    __syncthreads();

    Value b[p] = {};
    const Value* here = &stage.sources[0][0][frame_at.place_of_lane(lane)];
    const auto gather = [&](auto turns_known, int orbit) {
        constexpr int turns = decltype(turns_known)::value;
        const int slot = first_slot(orbit);
        const Value* from[turns];
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) {
            const auto step = step_of(quarter, slot + turn);
            from[turn] = here + step.quarter * frame + step.y * frame_at.width + step.x;
        }
        gather_orbit<p, turns>(
            b, [&](int k) { return stage.powers[at_quarter][orbit][k]; },
            [&](int turn) { return stage.logs[at_quarter][slot + turn]; },
            [&](int k, int turn) { return from[turn][k * (quarters * frame)]; });
    };
    if (part == 0) {
#pragma unroll 1
        for (int orbit = 0; orbit < full_orbits; ++orbit) gather(std::integral_constant<int, 4>{}, orbit);
    } else {
#pragma unroll 1
        for (int orbit = full_orbits; orbit < orbits - 1; ++orbit)
            gather(std::integral_constant<int, 2>{}, orbit);
        gather(std::integral_constant<int, 1>{}, orbits - 1);
    }
    __syncthreads(); // no source is read any more: their place takes what part 1 has
    auto* other = reinterpret_cast<Value(*)[own][lanes]>(stage_memory);
    if (part == 1)
#pragma unroll
        for (int n = 0; n < p; ++n) other[n][at_quarter][lane] = b[n];
    __syncthreads();
    if (part == 1 || (group - frame_at.begin) * lanes + lane >= parents_of_level(frame_at.level)) return;
    Value* to = at.locals + (group * quarters + quarter) * p * lanes + lane;
#pragma unroll
    for (int n = 0; n < p; ++n) to[n * lanes] = b[n] + other[n][at_quarter][lane];
}

template <int p>
Launch staged_of(int depth) {
    constexpr int own = staged_quarters[shape_of(p)];
    return {reinterpret_cast<const void*>(gather_staged_kernel<p, own, staged_blocks[shape_of(p)]>),
            static_cast<unsigned>(groups_of_depth(depth) * quarters / own), dim3(lanes, own, parts),
            static_cast<int>(sizeof(Stage<p, own>))};
}

} // namespace

Launch staged_launch(int terms, int depth) {
    return terms == 8 ? staged_of<8>(depth) : terms == 12 ? staged_of<12>(depth) : staged_of<16>(depth);
}

} // namespace farfield::m2l2d
