// M2M and L2L in the plane: a warp an expansion, its lanes the rows of the matrix.
#include "sums/fmm/plane/cuda/complex_number.cuh"
#include "sums/fmm/plane/cuda/plane_far.cuh"

#include "backend/cuda/check.h"

namespace farfield::cuda {
namespace {

constexpr int shift_warps = 8;
constexpr int most_terms = 64; ///< of an expansion
constexpr int rows_a_lane = most_terms / 32;

/// A warp's expansion; none beyond the last.
struct Own {
    int lane = static_cast<int>(threadIdx.x);
    int number = static_cast<int>(blockIdx.x) * shift_warps + static_cast<int>(threadIdx.y);
};

/// sum_r += Σ_k matrix(k, r)·x_k over k ≤ order, with k ≤ r or, for `down`, k ≥ r.
template <bool down>
__device__ __forceinline__ void add_product(const PlaneOperatorsView& at, const PlaneNumber* x, int lane,
                                            PlaneNumber (&sum)[rows_a_lane]) {
    const double* const matrix = down ? at.down : at.up;
#pragma unroll 4
    for (int k = 0; k <= at.order; ++k) {
        const auto value = x[k];
#pragma unroll
        for (int r = 0; r < rows_a_lane; ++r)
            if (const int row = lane + 32 * r; row <= at.order)
                multiply_add(sum[r], __ldg(matrix + k * at.shift_size + row), value);
    }
}

__global__ void __launch_bounds__(32 * shift_warps)
    gather_plane_kernel(const PlaneFarView far, std::int32_t first, int count) {
    __shared__ PlaneNumber staged[shift_warps][most_terms];
    const Own own;
    if (own.number >= count * far.sets) return;
    const auto cell = first + own.number / far.sets;
    const int set = own.number % far.sets;
    const auto& tree = far.tree;
    const auto& at = far.operators;
    if (tree.is_leaf(cell) || tree.sources[cell].size() == 0) return;
    PlaneNumber total[rows_a_lane] = {};
    auto& x = staged[threadIdx.y];
    for (int quadrant = 0; quadrant < plane_quadrants; ++quadrant) {
        const auto child = tree.child(cell, quadrant);
        if (child == TreeView::none || tree.sources[child].size() == 0) continue;
        const PlaneNumber* const from = far.multipole(static_cast<std::int64_t>(far.sets) * child + set);
        __syncwarp();
        for (int k = own.lane; k <= at.order; k += 32)
            x[k] = read(at.up_in + quadrant * at.shift_size + k) * from[k];
        __syncwarp();
        PlaneNumber sum[rows_a_lane] = {};
        add_product<false>(at, x, own.lane, sum);
#pragma unroll
        for (int r = 0; r < rows_a_lane; ++r)
            if (const int row = own.lane + 32 * r; row <= at.order)
                multiply_add(total[r], read(at.up_out + quadrant * at.shift_size + row), sum[r]);
    }
    PlaneNumber* const to = far.multipole(static_cast<std::int64_t>(far.sets) * cell + set);
#pragma unroll
    for (int r = 0; r < rows_a_lane; ++r)
        if (const int row = own.lane + 32 * r; row < at.columns) to[row] = total[r];
}

__global__ void __launch_bounds__(32 * shift_warps)
    spread_plane_kernel(const PlaneFarView far, const std::int32_t* cells, int count) {
    __shared__ PlaneNumber staged[shift_warps][most_terms];
    const Own own;
    if (own.number >= count * far.sets) return;
    const auto cell = cells[own.number / far.sets];
    const int set = own.number % far.sets;
    const auto& at = far.operators;
    const int quadrant = far.tree.places[cell].octant();
    const PlaneNumber* const from =
        far.local(static_cast<std::int64_t>(far.sets) * far.tree.parents[cell] + set);
    PlaneNumber* const to = far.local(static_cast<std::int64_t>(far.sets) * cell + set);
    auto& x = staged[threadIdx.y];
    PlaneNumber series{};
    for (int n = own.lane; n <= at.order; n += 32) {
        x[n] = read(at.down_in + quadrant * at.shift_size + n) * from[n + 1];
        multiply_add(series, __ldg(at.reciprocals + n + 1), x[n]);
    }
    __syncwarp();
    PlaneNumber sum[rows_a_lane] = {};
    add_product<true>(at, x, own.lane, sum);
#pragma unroll
    for (int r = 0; r < rows_a_lane; ++r)
        if (const int row = own.lane + 32 * r; row <= at.order) {
            auto value = to[row + 1];
            multiply_add(value, read(at.down_out + quadrant * at.shift_size + row), sum[r]);
            to[row + 1] = value;
        }
    for (int step = 16; step > 0; step /= 2) {
        series.re += __shfl_xor_sync(~0U, series.re, step);
        series.im += __shfl_xor_sync(~0U, series.im, step);
    }
    if (own.lane == 0) to[0].re += from[0].re + (at.to_child[quadrant] * series).re;
}

unsigned blocks_for(int expansions) {
    return static_cast<unsigned>((expansions + shift_warps - 1) / shift_warps);
}

} // namespace

void gather_plane_expansions(const PlaneFarView& far, std::int32_t first, int count, cudaStream_t stream) {
    if (count == 0) return;
    gather_plane_kernel<<<blocks_for(count * far.sets), dim3(32, shift_warps), 0, stream>>>(far, first, count);
    check_launch("gathering expansions");
}

void spread_plane_expansions(const PlaneFarView& far, const std::int32_t* cells, int count,
                             cudaStream_t stream) {
    if (count == 0) return;
    spread_plane_kernel<<<blocks_for(count * far.sets), dim3(32, shift_warps), 0, stream>>>(far, cells, count);
    check_launch("spreading expansions");
}

} // namespace farfield::cuda
