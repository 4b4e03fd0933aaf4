// Our kernels: a thread a box. `spread` has a source and writes 27 expansions; `gather` has a target and adds
// up what its 27 sources give. Sums go in a fixed order: the same bits from run to run.
#include "studies/m2l_2d/cuda/lanes.cuh"

#include <farfield/error.h>

#include <cuda_runtime.h>

#include <type_traits>

namespace farfield::m2l2d {
namespace {

constexpr float ln_2 = 0.69314718f;

// The powers and logarithms of one quarter of lists, in shared memory.
template <int p, int quarters_a_block>
struct OwnTables {
    Value powers[quarters_a_block][list_size][p];
    Value logs[quarters_a_block][list_size];

    __device__ void load(const DeviceProblem& at, int first_quarter, int turns) {
        const auto thread =
            static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
        const auto threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
        for (int own = 0; own < quarters_a_block; ++own) {
            const int quarter = (first_quarter + own + turns) & 3;
            for (int i = thread; i < list_size * p; i += threads)
                (&powers[own][0][0])[i] = at.powers[quarter * (list_size * p) + i];
            for (int i = thread; i < list_size; i += threads) logs[own][i] = at.logs[quarter * list_size + i];
        }
        __syncthreads();
    }
};

// −ln of an offset's length on its level.
__device__ Value level_log(Value log, int level) {
    return {log.re + static_cast<float>(level) * ln_2, log.im};
}

template <int p, int quarters_a_block, int least_blocks, Variant variant, int layout = 0>
__global__ __launch_bounds__(lanes* quarters_a_block, least_blocks) void spread_kernel(DeviceProblem at) {
    __shared__ OwnTables<p, quarters_a_block> tables;
    const auto own = static_cast<int>(threadIdx.y),
               first_quarter = static_cast<int>(blockIdx.x) * quarters_a_block % 4;
    const int quarter = first_quarter + own;
    tables.load(at, first_quarter, 0);
    const Lane lane(static_cast<int>(blockIdx.x) * quarters_a_block / 4, static_cast<int>(threadIdx.x),
                    at.depth);
    if (!lane.exists) return;
    Value a[p];
    const Value* from = at.multipoles + lane.begin(p) + quarter * lane.parents + lane.parent;
#pragma unroll
    for (int k = 0; k < p; ++k) a[k] = from[k * quarters * lane.parents];
    Value* to = (layout & 1)
                    ? at.written +
                          (static_cast<std::size_t>(static_cast<int>(blockIdx.x) * quarters_a_block / 4) * 4 +
                           quarter) *
                              (list_size * p * 32) +
                          threadIdx.x
                    : at.written + lane.begin(list_size * p) + quarter * lane.parents + lane.parent;
    const int stride = (layout & 1) ? 32 : quarters * lane.parents; // from term to term
    const auto store_at = [&](int slot, int n, const Value& value) {
        if (layout & 2)
            *(reinterpret_cast<float2*>(to + (slot * p + n) * stride)) = make_float2(value.re, value.im);
        else
            __stcs(reinterpret_cast<float2*>(to + (slot * p + n) * stride), make_float2(value.re, value.im));
    };
    if constexpr (variant == Variant::shared_operator) {
#pragma unroll 1
        for (int slot = 0; slot < list_size; ++slot)
            shared_translation<p>(
                a, [&](int k) { return tables.powers[own][slot][k]; },
                level_log(tables.logs[own][slot], lane.level),
                [&](int n, const Value& value) { store_at(slot, n, value); });
    } else {
        const auto spread = [&](auto turns, int slot) {
            spread_orbit<p, decltype(turns)::value>(
                a, [&](int k) { return tables.powers[own][slot][k]; },
                [&](int turn) { return level_log(tables.logs[own][slot + turn], lane.level); },
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

// What a thread of `gather` reads of its sources.
template <int p>
struct Sources {
    const DeviceProblem& at;
    const Lane& lane;
    int quarter;

    __device__ const Value* at_slot(int slot) const {
        const auto step = step_of(quarter, slot);
        return at.multipoles + lane.begin(p) + step.quarter * lane.parents + lane.parent_at(step);
    }
};

// Part 0 of a block has the full orbits, part 1 the others: about the same work.
template <int p, int quarters_a_block, int least_blocks>
__global__ __launch_bounds__(2 * lanes * quarters_a_block,
                             least_blocks) void gather_orbits_kernel(DeviceProblem at) {
    __shared__ OwnTables<p, quarters_a_block> tables;
    __shared__ Value of_part[p][quarters_a_block][lanes];
    const auto own = static_cast<int>(threadIdx.y),
               first_quarter = static_cast<int>(blockIdx.x) * quarters_a_block % 4;
    const int quarter = first_quarter + own;
    tables.load(at, first_quarter, 2); // d leads from the source: against the offset
    const Lane lane(static_cast<int>(blockIdx.x) * quarters_a_block / 4, static_cast<int>(threadIdx.x),
                    at.depth);
    const Sources<p> sources{at, lane, quarter};
    const int stride = quarters * lane.parents;
    Value b[p] = {};
    const auto gather = [&](auto turns_known, int slot) {
        constexpr int turns = decltype(turns_known)::value;
        const Value* from[turns];
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) from[turn] = sources.at_slot(slot + turn);
        gather_orbit<p, turns>(
            b, [&](int k) { return tables.powers[own][slot][k]; },
            [&](int turn) { return level_log(tables.logs[own][slot + turn], lane.level); },
            [&](int k, int turn) { return from[turn][k * stride]; });
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
        for (int n = 0; n < p; ++n) of_part[n][own][threadIdx.x] = b[n];
    }
    __syncthreads();
    if (threadIdx.z != 0 || !lane.exists) return;
    Value* to = at.locals + lane.begin(p) + quarter * lane.parents + lane.parent;
#pragma unroll
    for (int n = 0; n < p; ++n) to[n * stride] = b[n] + of_part[n][own][threadIdx.x];
}

// A translation after the other.
template <int p, int quarters_a_block, int least_blocks>
__global__ __launch_bounds__(lanes* quarters_a_block,
                             least_blocks) void gather_each_kernel(DeviceProblem at) {
    __shared__ OwnTables<p, quarters_a_block> tables;
    const auto own = static_cast<int>(threadIdx.y),
               first_quarter = static_cast<int>(blockIdx.x) * quarters_a_block % 4;
    const int quarter = first_quarter + own;
    tables.load(at, first_quarter, 2);
    const Lane lane(static_cast<int>(blockIdx.x) * quarters_a_block / 4, static_cast<int>(threadIdx.x),
                    at.depth);
    if (!lane.exists) return;
    const Sources<p> sources{at, lane, quarter};
    const int stride = quarters * lane.parents;
    Value b[p] = {};
#pragma unroll 1
    for (int slot = 0; slot < list_size; ++slot) {
        const Value* from = sources.at_slot(slot);
        Value a[p];
#pragma unroll
        for (int k = 0; k < p; ++k) a[k] = from[k * stride];
        shared_translation<p>(
            a, [&](int k) { return tables.powers[own][slot][k]; },
            level_log(tables.logs[own][slot], lane.level),
            [&](int n, const Value& value) { b[n] = b[n] + value; });
    }
    Value* to = at.locals + lane.begin(p) + quarter * lane.parents + lane.parent;
#pragma unroll
    for (int n = 0; n < p; ++n) to[n * stride] = b[n];
}

// A thread a term of a box.
template <int p>
__global__ __launch_bounds__(lanes* quarters) void quarters_reduction_kernel(DeviceProblem at) {
    const auto quarter = static_cast<int>(threadIdx.y), n = static_cast<int>(blockIdx.y);
    const Lane lane(static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), at.depth);
    if (!lane.exists) return;
    const Value* from = at.written + lane.begin(list_size * p);
    Value sum{0.0f, 0.0f};
#pragma unroll
    for (int slot = 0; slot < list_size; ++slot) {
        const auto step = step_of(quarter, slot);
        const int back = slot_back(quarter, slot, step.quarter);
        sum = sum + from[((back * p + n) * quarters + step.quarter) * lane.parents + lane.parent_at(step)];
    }
    at.locals[lane.begin(p) + (n * quarters + quarter) * lane.parents + lane.parent] = sum;
}

template <class Kernel>
const void* address_of(Kernel* kernel) {
    return reinterpret_cast<const void*>(kernel);
}

unsigned blocks_for(int depth, int quarters_a_block) {
    return static_cast<unsigned>(groups_of_depth(depth) * quarters / quarters_a_block);
}

template <int p>
Launch spread_of(Variant variant, int depth) {
    constexpr int own = 2;
    return {variant == Variant::rotations ? address_of(spread_kernel<p, own, 1, Variant::rotations>)
                                          : address_of(spread_kernel<p, own, 1, Variant::shared_operator>),
            blocks_for(depth, own), dim3(lanes, own)};
}
template <int p>
Launch gather_of(Variant variant, int depth) {
    constexpr int own = 2;
    if (variant == Variant::rotations)
        return {address_of(gather_orbits_kernel<p, own, 1>), blocks_for(depth, own), dim3(lanes, own, 2)};
    return {address_of(gather_each_kernel<p, own, 1>), blocks_for(depth, own), dim3(lanes, own)};
}
template <int p>
Launch sum_of(int depth) {
    return {address_of(quarters_reduction_kernel<p>), dim3(blocks_for(depth, quarters), p),
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
Launch quarters_reduction(int terms, int depth) {
    return terms == 8 ? sum_of<8>(depth) : terms == 12 ? sum_of<12>(depth) : sum_of<16>(depth);
}

} // namespace farfield::m2l2d
