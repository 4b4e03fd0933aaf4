// Our kernels: a thread a box. `spread` has a source and writes 27 expansions; `gather` has a target and adds
// up what its 27 sources give. Sums go in a fixed order: the same bits from run to run.
#include "studies/m2l_2d/cuda/lanes.cuh"
#include "studies/m2l_2d/cuda/shapes.cuh"

#include <farfield/error.h>

#include <cuda_runtime.h>

#include <type_traits>

namespace farfield::m2l2d {
namespace {

// The powers and logarithms of one quarter of lists, in shared memory.
template <int p, int quarters_a_block>
struct OwnTables {
    Value powers[quarters_a_block][list_size][p];
    Value logs[quarters_a_block][list_size];
    Step steps[quarters_a_block][list_size]; ///< for targets

    __device__ void load(const DeviceProblem& at, int first_quarter, int turns) {
        const auto thread =
            static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
        const auto threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
        for (int own = 0; own < quarters_a_block; ++own) {
            const int quarter = (first_quarter + own + turns) & 3;
            for (int i = thread; i < list_size * p; i += threads)
                (&powers[own][0][0])[i] = at.powers[quarter * (list_size * p) + i];
            for (int i = thread; i < list_size; i += threads) {
                logs[own][i] = at.logs[quarter * list_size + i];
                steps[own][i] = step_of(first_quarter + own, i);
            }
        }
        __syncthreads();
    }
};

// What a block of some warps has: a warp each of quarters of the same parents. Blocks of the deepest level
// come first.
template <int quarters_a_block>
struct Place {
    int own = static_cast<int>(threadIdx.y); ///< of the block's quarters
    int first_quarter = static_cast<int>(blockIdx.x) * quarters_a_block % quarters;
    int quarter = first_quarter + own;
    Lane lane{static_cast<int>(gridDim.x - 1 - blockIdx.x) * quarters_a_block / quarters,
              static_cast<int>(threadIdx.x)};
};

template <int p, int quarters_a_block, int least_blocks, Variant variant>
__global__ __launch_bounds__(lanes* quarters_a_block, least_blocks) void spread_kernel(DeviceProblem at) {
    __shared__ OwnTables<p, quarters_a_block> tables;
    const Place<quarters_a_block> place;
    tables.load(at, place.first_quarter, 0);
    if (!place.lane.exists) return;
    Value a[p];
    const Value* from = at.multipoles + place.lane.own_place(place.quarter, p);
#pragma unroll
    for (int k = 0; k < p; ++k) a[k] = from[k * lanes];
    Value* to = at.written + place.lane.own_place(place.quarter, list_size * p);
    const auto& powers = tables.powers[place.own];
    const auto& logs = tables.logs[place.own];
    const auto store_at = [&](int slot, int n, const Value& value) { // nothing reads it soon
        __stcs(reinterpret_cast<float2*>(to + (slot * p + n) * lanes), make_float2(value.re, value.im));
    };
    if constexpr (variant == Variant::shared_operator) {
#pragma unroll 1
        for (int slot = 0; slot < list_size; ++slot)
            shared_translation<p>(
                a, [&](int k) { return powers[slot][k]; }, level_log(logs[slot], place.lane.level),
                [&](int n, const Value& value) { store_at(slot, n, value); });
    } else {
        const auto spread = [&](auto turns, int slot) {
            spread_orbit<p, decltype(turns)::value>(
                a, [&](int k) { return powers[slot][k]; },
                [&](int turn) { return level_log(logs[slot + turn], place.lane.level); },
                [&](int n, int turn, const Value& value) { store_at(slot + turn, n, value); });
        };
#pragma unroll 1
        for (int orbit = 0; orbit < full_orbits; ++orbit)
            spread(std::integral_constant<int, 4>{}, first_slot(orbit));
#pragma unroll 1
        for (int orbit = full_orbits; orbit < orbits - 1; ++orbit)
            spread(std::integral_constant<int, 2>{}, first_slot(orbit));
        spread(std::integral_constant<int, 1>{}, list_size - 1);
    }
}

// Part 0 of a block has the full orbits, part 1 the others: about the same work.
template <int p, int quarters_a_block, int least_blocks>
__global__ __launch_bounds__(2 * lanes * quarters_a_block,
                             least_blocks) void gather_orbits_kernel(DeviceProblem at) {
    __shared__ OwnTables<p, quarters_a_block> tables;
    __shared__ Value of_part[p][quarters_a_block][lanes];
    const Place<quarters_a_block> place;
    tables.load(at, place.first_quarter, 2); // d leads from the source: against the offset
    const auto& powers = tables.powers[place.own];
    const auto& logs = tables.logs[place.own];
    Value b[p] = {};
    const auto gather = [&](auto turns_known, int slot) {
        constexpr int turns = decltype(turns_known)::value;
        const Value* from[turns];
#pragma unroll
        for (int turn = 0; turn < turns; ++turn)
            from[turn] = at.multipoles + place.lane.place_at(tables.steps[place.own][slot + turn], p);
        gather_orbit<p, turns>(
            b, [&](int k) { return powers[slot][k]; },
            [&](int turn) { return level_log(logs[slot + turn], place.lane.level); },
            [&](int k, int turn) { return from[turn][k * lanes]; });
    };
    if (threadIdx.z == 0) {
#pragma unroll 1
        for (int orbit = 0; orbit < full_orbits; ++orbit)
            gather(std::integral_constant<int, 4>{}, first_slot(orbit));
    } else {
#pragma unroll 1
        for (int orbit = full_orbits; orbit < orbits - 1; ++orbit)
            gather(std::integral_constant<int, 2>{}, first_slot(orbit));
        gather(std::integral_constant<int, 1>{}, list_size - 1);
#pragma unroll
        for (int n = 0; n < p; ++n) of_part[n][place.own][threadIdx.x] = b[n];
    }
    __syncthreads();
    if (threadIdx.z != 0 || !place.lane.exists) return;
    Value* to = at.locals + place.lane.own_place(place.quarter, p);
#pragma unroll
    for (int n = 0; n < p; ++n) to[n * lanes] = b[n] + of_part[n][place.own][threadIdx.x];
}

// A translation after the other.
template <int p, int quarters_a_block, int least_blocks>
__global__ __launch_bounds__(lanes* quarters_a_block,
                             least_blocks) void gather_each_kernel(DeviceProblem at) {
    __shared__ OwnTables<p, quarters_a_block> tables;
    const Place<quarters_a_block> place;
    tables.load(at, place.first_quarter, 2);
    if (!place.lane.exists) return;
    Value b[p] = {};
#pragma unroll 1
    for (int slot = 0; slot < list_size; ++slot) {
        const Value* from = at.multipoles + place.lane.place_at(tables.steps[place.own][slot], p);
        Value a[p];
#pragma unroll
        for (int k = 0; k < p; ++k) a[k] = from[k * lanes];
        shared_translation<p>(
            a, [&](int k) { return tables.powers[place.own][slot][k]; },
            level_log(tables.logs[place.own][slot], place.lane.level),
            [&](int n, const Value& value) { b[n] = b[n] + value; });
    }
    Value* to = at.locals + place.lane.own_place(place.quarter, p);
#pragma unroll
    for (int n = 0; n < p; ++n) to[n * lanes] = b[n];
}

// A thread a term of a box.
template <int p>
__global__ __launch_bounds__(lanes* quarters) void groups_reduction_kernel(DeviceProblem at) {
    const auto n = static_cast<int>(blockIdx.y);
    const Place<quarters> place;
    if (!place.lane.exists) return;
    Value sum{0.0f, 0.0f};
#pragma unroll
    for (int slot = 0; slot < list_size; ++slot) {
        const auto step = step_of(place.quarter, slot);
        const int back = slot_back(place.quarter, slot, step.quarter);
        sum = sum + at.written[place.lane.place_at(step, list_size * p) + (back * p + n) * lanes];
    }
    at.locals[place.lane.own_place(place.quarter, p) + n * lanes] = sum;
}

template <class Kernel>
const void* address_of(Kernel* kernel) {
    return reinterpret_cast<const void*>(kernel);
}

unsigned blocks_for(int depth, int quarters_a_block) {
    return static_cast<unsigned>(groups_of_depth(depth) * quarters / quarters_a_block);
}

constexpr int warps = 2; // quarters of a block

template <int p>
Launch spread_of(Variant variant, int depth) {
    constexpr int shape = shape_of(p);
    return {variant == Variant::rotations
                ? address_of(spread_kernel<p, warps, spread_orbits_blocks[shape], Variant::rotations>)
                : address_of(spread_kernel<p, warps, spread_each_blocks[shape], Variant::shared_operator>),
            blocks_for(depth, warps), dim3(lanes, warps)};
}
template <int p>
Launch gather_of(Variant variant, int depth) {
    constexpr int shape = shape_of(p);
    if (variant == Variant::rotations)
        return {address_of(gather_orbits_kernel<p, warps, gather_orbits_blocks[shape]>),
                blocks_for(depth, warps), dim3(lanes, warps, 2)};
    return {address_of(gather_each_kernel<p, warps, gather_each_blocks[shape]>), blocks_for(depth, warps),
            dim3(lanes, warps)};
}
template <int p>
Launch sum_of(int depth) {
    return {address_of(groups_reduction_kernel<p>), dim3(blocks_for(depth, quarters), p),
            dim3(lanes, quarters)};
}

} // namespace

Launch spread_launch(Variant variant, int terms, int depth) {
    return terms == 8    ? spread_of<8>(variant, depth)
           : terms == 12 ? spread_of<12>(variant, depth)
                         : spread_of<16>(variant, depth);
}
Launch gather_launch(Variant variant, int terms, int depth) {
    return terms == 8    ? gather_of<8>(variant, depth)
           : terms == 12 ? gather_of<12>(variant, depth)
                         : gather_of<16>(variant, depth);
}
Launch groups_reduction(int terms, int depth) {
    return terms == 8 ? sum_of<8>(depth) : terms == 12 ? sum_of<12>(depth) : sum_of<16>(depth);
}

} // namespace farfield::m2l2d
