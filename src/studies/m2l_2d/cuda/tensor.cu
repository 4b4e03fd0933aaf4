// All 27 translations to a target on tensor cores, each number split in two of TF32 (tensor_operands.h). A
// warp has 32 targets of a quarter, a block warps of one quarter, whose operands it keeps in shared memory.
// What tensor cores add up is not rounded but cut, so their chains end with each source and go on in float.
#include "studies/m2l_2d/cuda/lanes.cuh"

#include <cuda_runtime.h>

namespace farfield::m2l2d {
namespace {

constexpr int tensor_warps = 8, column_tiles = 4;

__device__ unsigned to_tf32(float value) {
    unsigned out;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(value));
    return out;
}

__device__ void multiply_tiles(float (&c)[4], float a0, float a1, float a2, float a3, unsigned b0,
                               unsigned b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(a2)),
          "r"(__float_as_uint(a3)), "r"(b0), "r"(b1));
}

// One complex number of a source, in two parts.
struct Split {
    unsigned re, im, re_rest, im_rest;
};
__device__ Split split(const Value& value) {
    const unsigned re = to_tf32(value.re), im = to_tf32(value.im);
    return {re, im, to_tf32(value.re - __uint_as_float(re)), to_tf32(value.im - __uint_as_float(im))};
}

// c += a·b without the product of the small parts, which goes last of all.
__device__ void multiply_split(float (&c)[4], const TensorOperand& a, const Split& b) {
    multiply_tiles(c, a.re_rest, a.im_rest, -a.im_rest, a.re_rest, b.re, b.im);
    multiply_tiles(c, a.re, a.im, -a.im, a.re, b.re_rest, b.im_rest);
    multiply_tiles(c, a.re, a.im, -a.im, a.re, b.re, b.im);
}

// c of all targets over one source each; `charge` sums a_0 where the thread has it.
template <int p>
__device__ void add_source(float (&sum)[row_tiles(p)][column_tiles][4], Value (&charge)[column_tiles],
                           const TensorOperand* operands, const Value* const (&from)[column_tiles],
                           int lane) {
    float chain[row_tiles(p)][column_tiles][4] = {};
#pragma unroll
    for (int step = 0; step < column_steps(p); ++step) {
        Split b[column_tiles];
#pragma unroll
        for (int tile = 0; tile < column_tiles; ++tile) {
            const auto value = from[tile][4 * step * lanes];
            if (step == 0) charge[tile] = charge[tile] + value;
            b[tile] = split(value);
        }
#pragma unroll
        for (int row = 0; row < row_tiles(p); ++row) {
            const auto a = operands[(step * row_tiles(p) + row) * 32 + lane];
#pragma unroll
            for (int tile = 0; tile < column_tiles; ++tile) multiply_split(chain[row][tile], a, b[tile]);
        }
    }
#pragma unroll
    for (int row = 0; row < row_tiles(p); ++row)
#pragma unroll
        for (int tile = 0; tile < column_tiles; ++tile)
#pragma unroll
            for (int i = 0; i < 4; ++i) sum[row][tile][i] += chain[row][tile][i];
}

template <int p>
__global__ __launch_bounds__(32 * tensor_warps) void gather_tensor_kernel(DeviceProblem at) {
    extern __shared__ TensorOperand tensor_memory[];
    const int quarter = static_cast<int>(blockIdx.x) % quarters, lane = static_cast<int>(threadIdx.x);
    constexpr int all = list_size * operands_a_slot(p);
    for (int i = static_cast<int>(threadIdx.y) * 32 + lane; i < all; i += 32 * tensor_warps)
        tensor_memory[i] = at.operands[quarter * all + i];
    __syncthreads();
    const int group = static_cast<int>(blockIdx.x) / quarters * tensor_warps + static_cast<int>(threadIdx.y);
    if (group >= groups_of_depth(at.depth)) return;

    // the target of column lane/4 of a tile; a short level repeats its last one
    const Lane own[column_tiles] = {Lane(group, lane / 4), Lane(group, 8 + lane / 4),
                                    Lane(group, 16 + lane / 4), Lane(group, 24 + lane / 4)};
    float sum[row_tiles(p)][column_tiles][4] = {};
    Value charge[column_tiles] = {};
#pragma unroll 1
    for (int slot = 0; slot < list_size; ++slot) {
        const auto step = step_of(quarter, slot);
        const Value* from[column_tiles];
#pragma unroll
        for (int tile = 0; tile < column_tiles; ++tile)
            from[tile] = at.multipoles + own[tile].place_at(step, p) + lane % 4 * lanes;
        add_source<p>(sum, charge, tensor_memory + slot * operands_a_slot(p), from, lane);
    }

    Value* to = at.locals + (group * quarters + quarter) * p * lanes;
    const int parents = parents_of_level(own[0].level);
#pragma unroll
    for (int tile = 0; tile < column_tiles; ++tile)
#pragma unroll
        for (int of_two = 0; of_two < 2; ++of_two) {
            const int column = lane % 4 * 2 + of_two, within = 8 * tile + column;
            // Σ a_0 of that target lies with the lane of its column that has k = 0
            const Value charges{__shfl_sync(0xffffffffU, charge[tile].re, 4 * column),
                                __shfl_sync(0xffffffffU, charge[tile].im, 4 * column)};
            if ((group - own[0].begin) * lanes + within >= parents) continue;
#pragma unroll
            for (int row = 0; row < row_tiles(p); ++row) {
                const int n = 8 * row + lane / 4;
                if (n >= p) continue;
                const Value b{sum[row][tile][of_two], sum[row][tile][2 + of_two]};
                to[n * lanes + within] =
                    n == 0 ? multiply_add(level_log({0.0f, 0.0f}, own[0].level), charges, b) : b;
            }
        }
}

template <int p>
Launch tensor_of(int depth) {
    const int groups = groups_of_depth(depth);
    return {reinterpret_cast<const void*>(gather_tensor_kernel<p>),
            static_cast<unsigned>((groups + tensor_warps - 1) / tensor_warps * quarters),
            dim3(32, tensor_warps), list_size * operands_a_slot(p) * static_cast<int>(sizeof(TensorOperand))};
}

} // namespace

Launch tensor_launch(int terms, int depth) {
    return terms == 8 ? tensor_of<8>(depth) : terms == 12 ? tensor_of<12>(depth) : tensor_of<16>(depth);
}

} // namespace farfield::m2l2d
