// All 27 translations to a target on tensor cores, each number split in two of TF32 (tensor_operands.h). A
// warp has 32 targets of a quarter, a block warps of one quarter, whose operands it keeps in shared memory.
// What tensor cores add up is not rounded but cut, so their chains end with each source and go on in float.
#include "studies/m2l_2d/cuda/lanes.cuh"

#include <cuda_runtime.h>

namespace farfield::m2l2d {
namespace {

constexpr int tensor_warps = 8, column_tiles = 4;
constexpr float tensor_ln_2 = 0.69314718f;

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
                           const TensorOperand* operands, const Value* from,
                           const int (&parent)[column_tiles], int stride, int lane) {
    float chain[row_tiles(p)][column_tiles][4] = {};
#pragma unroll
    for (int step = 0; step < column_steps(p); ++step) {
        Split b[column_tiles];
#pragma unroll
        for (int tile = 0; tile < column_tiles; ++tile) {
            const auto value = from[(4 * step + lane % 4) * stride + parent[tile]];
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
    const Lane own[column_tiles] = {Lane(group, lane / 4, at.depth), Lane(group, 8 + lane / 4, at.depth),
                                    Lane(group, 16 + lane / 4, at.depth),
                                    Lane(group, 24 + lane / 4, at.depth)};
    const int stride = quarters * own[0].parents;
    float sum[row_tiles(p)][column_tiles][4] = {};
    Value charge[column_tiles] = {};
#pragma unroll 1
    for (int slot = 0; slot < list_size; ++slot) {
        const auto step = step_of(quarter, slot);
        int parent[column_tiles];
#pragma unroll
        for (int tile = 0; tile < column_tiles; ++tile) parent[tile] = own[tile].parent_at(step);
        add_source<p>(sum, charge, tensor_memory + slot * operands_a_slot(p),
                      at.multipoles + own[0].begin(p) + step.quarter * own[0].parents, parent, stride, lane);
    }

    Value* to = at.locals + own[0].begin(p) + quarter * own[0].parents + own[0].first;
    const float log_side = static_cast<float>(own[0].level) * tensor_ln_2;
#pragma unroll
    for (int tile = 0; tile < column_tiles; ++tile)
#pragma unroll
        for (int of_two = 0; of_two < 2; ++of_two) {
            const int column = lane % 4 * 2 + of_two, within = 8 * tile + column;
            // Σ a_0 of that target lies with the lane of its column that has k = 0
            const float re = __shfl_sync(0xffffffffU, charge[tile].re, 4 * column),
                        im = __shfl_sync(0xffffffffU, charge[tile].im, 4 * column);
            if (own[0].first + within >= own[0].parents) continue;
#pragma unroll
            for (int row = 0; row < row_tiles(p); ++row) {
                const int n = 8 * row + lane / 4;
                if (n >= p) continue;
                Value b{sum[row][tile][of_two], sum[row][tile][2 + of_two]};
                if (n == 0) b = {b.re + log_side * re, b.im + log_side * im};
                to[n * stride + within] = b;
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
