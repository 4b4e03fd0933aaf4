// The turns of an orbit as in ours.cu, with the sources of a block in shared memory: those of 32 parents and
// of the parents around them, which the 27 · 128 translations of the block read again and again.
#include "studies/m2l_2d/cuda/lanes.cuh"
#include "studies/m2l_2d/cuda/shapes.cuh"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <type_traits>

namespace farfield::m2l2d {
namespace {

constexpr int parts = 2, staged_warps = quarters * parts, staged_threads = staged_warps * lanes;
// A group is a row of 32 parents, or some short rows; with the parents around them at most 3 rows of 34.
constexpr int frame_width = lanes + 2, frame = 3 * frame_width, frame_pieces = (frame + lanes - 1) / lanes;

template <int p>
struct Stage {
    Value sources[p][quarters][frame];
    Value powers[quarters][orbits][p]; ///< of turn 0
    Value logs[quarters][list_size];
    int steps[quarters][list_size]; ///< to a source, in places of `sources`
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
    __device__ int row_of(int place) const { // most groups divide by a number that the compiler knows
        return width == frame_width ? place / frame_width : place / width;
    }
    /// The first number of quarter 0 of the parent at a place of the frame.
    __device__ int source_of(int place, int numbers) const {
        const int mask = parents_an_axis(level) - 1, row = row_of(place);
        const int there_x = (x + place - row * width - 1) & mask, there_y = (y + row - 1) & mask;
        return place_of(begin, (there_y << (level - 1)) + there_x, 0, numbers);
    }
    __device__ int place_of_lane(int lane) const {
        const int row = width == frame_width ? 0 : lane / (width - 2);
        return (row + 1) * width + lane - row * (width - 2) + 1;
    }
};

template <int p>
__device__ void fill(Stage<p>& stage, const DeviceProblem& at, const Frame& frame_at, int warp, int lane) {
    const int size = frame_at.width * frame_at.rows;
#pragma unroll
    for (int piece = 0; piece < frame_pieces; ++piece) {
        const int place = piece * lanes + lane;
        if (place >= size) break;
        const Value* from = at.multipoles + frame_at.source_of(place, p);
#pragma unroll
        for (int k = 0; k < p; k += staged_warps) {
            if (k + staged_warps > p && k + warp >= p) break;
#pragma unroll
            for (int quarter = 0; quarter < quarters; ++quarter)
                __pipeline_memcpy_async(&stage.sources[k + warp][quarter][place],
                                        from + (quarter * p + k + warp) * lanes, sizeof(Value));
        }
    }
    __pipeline_commit();
    const int thread = warp * lanes + lane;
    for (int i = thread; i < quarters * orbits * p; i += staged_threads) {
        const int quarter = i / (orbits * p), orbit = i / p % orbits;
        // d leads from the source: against the offset
        stage.powers[quarter][orbit][i % p] =
            at.powers[((quarter ^ 2) * list_size + first_slot(orbit)) * p + i % p];
    }
    if (thread < quarters * list_size) {
        const int quarter = thread / list_size, slot = thread % list_size;
        stage.logs[quarter][slot] = level_log(at.logs[(quarter ^ 2) * list_size + slot], frame_at.level);
        const auto step = step_of(quarter, slot);
        stage.steps[quarter][slot] = step.quarter * frame + step.y * frame_at.width + step.x;
    }
    __pipeline_wait_prior(0);
}

// Part 0 of a block has the full orbits, part 1 the others: about the same work.
template <int p, int least_blocks>
__global__ __launch_bounds__(staged_threads, least_blocks) void gather_staged_kernel(DeviceProblem at) {
    static_assert(quarters * list_size <= staged_threads);
    extern __shared__ double stage_memory[];
    auto& stage = *reinterpret_cast<Stage<p>*>(stage_memory);
    const auto lane = static_cast<int>(threadIdx.x), quarter = static_cast<int>(threadIdx.y),
               part = static_cast<int>(threadIdx.z), group = static_cast<int>(gridDim.x - 1 - blockIdx.x);
    const Frame frame_at(group);
    fill(stage, at, frame_at, part * quarters + quarter, lane);
    __syncthreads();

    Value b[p] = {};
    const Value* own = &stage.sources[0][0][frame_at.place_of_lane(lane)];
    const auto gather = [&](auto turns_known, int orbit) {
        constexpr int turns = decltype(turns_known)::value;
        const int slot = first_slot(orbit);
        const Value* from[turns];
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) from[turn] = own + stage.steps[quarter][slot + turn];
        gather_orbit<p, turns>(
            b, [&](int k) { return stage.powers[quarter][orbit][k]; },
            [&](int turn) { return stage.logs[quarter][slot + turn]; },
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
    auto* other = reinterpret_cast<Value(*)[quarters][lanes]>(stage_memory);
    if (part == 1)
#pragma unroll
        for (int n = 0; n < p; ++n) other[n][quarter][lane] = b[n];
    __syncthreads();
    if (part == 1 || (group - frame_at.begin) * lanes + lane >= parents_of_level(frame_at.level)) return;
    Value* to = at.locals + (group * quarters + quarter) * p * lanes + lane;
#pragma unroll
    for (int n = 0; n < p; ++n) to[n * lanes] = b[n] + other[n][quarter][lane];
}

template <int p>
Launch staged_of(int depth) {
    return {reinterpret_cast<const void*>(gather_staged_kernel<p, staged_blocks[shape_of(p)]>),
            static_cast<unsigned>(groups_of_depth(depth)), dim3(lanes, quarters, parts),
            static_cast<int>(sizeof(Stage<p>))};
}

} // namespace

Launch staged_launch(int terms, int depth) {
    return terms == 8 ? staged_of<8>(depth) : terms == 12 ? staged_of<12>(depth) : staged_of<16>(depth);
}

} // namespace farfield::m2l2d
