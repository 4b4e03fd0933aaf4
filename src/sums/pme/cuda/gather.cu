// Potentials and fields gathered from a mesh: a block for each chunk of a bin's points, a thread for each
// point. The mesh around the bin lies in shared memory.
#include "backend/cuda/check.h"
#include "sums/pme/cuda/mesh_task.cuh"

#include <utility>

namespace farfield::cuda {
namespace {

constexpr int threads = 128;

/// Σ_k c_k s^k of each of the mesh points of a row; `count` powers.
template <int P>
__device__ void evaluate(const double* powers, int count, double s, double (&out)[P]) {
    constexpr int row = padded_order(P);
#pragma unroll
    for (int j = 0; j < P; ++j) out[j] = powers[(count - 1) * row + j];
    for (int k = count - 2; k >= 0; --k)
#pragma unroll
        for (int j = 0; j < P; ++j) out[j] = fma(out[j], s, powers[k * row + j]);
}

/// The same of one mesh point.
template <int P>
__device__ double evaluate_one(const double* powers, int count, double s, int j) {
    constexpr int row = padded_order(P);
    double out = powers[(count - 1) * row + j];
    for (int k = count - 2; k >= 0; --k) out = fma(out, s, powers[k * row + j]);
    return out;
}

template <int P, bool with_field>
__device__ void gather_point(const GatherTask& task, const MeshPoint& point, const double* tile,
                             const double* values, const double* slopes) {
    constexpr int side = bin_side + P - 1;
    const double* const first = tile + (point.cell(2) * side + point.cell(1)) * side + point.cell(0);
    double x_weight[P], x_slope[P], y_weight[P], y_slope[P];
    evaluate<P>(values, P, point.fraction[0] - 0.5, x_weight);
    evaluate<P>(values, P, point.fraction[1] - 0.5, y_weight);
    if constexpr (with_field) {
        evaluate<P>(slopes, P - 1, point.fraction[0] - 0.5, x_slope);
        evaluate<P>(slopes, P - 1, point.fraction[1] - 0.5, y_slope);
    }
    double potential = 0.0, down[3] = {0.0, 0.0, 0.0};
#pragma unroll 1
    for (int z = 0; z < P; ++z) {
        const double* const plane = first + z * side * side;
        double sum = 0.0, sum_x = 0.0, sum_y = 0.0;
#pragma unroll
        for (int y = 0; y < P; ++y) {
            double of_row = 0.0, slope = 0.0;
#pragma unroll
            for (int x = 0; x < P; ++x) {
                const double value = plane[y * side + x];
                of_row = fma(x_weight[x], value, of_row);
                if constexpr (with_field) slope = fma(x_slope[x], value, slope);
            }
            sum = fma(y_weight[y], of_row, sum);
            if constexpr (with_field) {
                sum_x = fma(y_weight[y], slope, sum_x);
                sum_y = fma(y_slope[y], of_row, sum_y);
            }
        }
        const double z_weight = evaluate_one<P>(values, P, point.fraction[2] - 0.5, z);
        potential = fma(z_weight, sum, potential);
        if constexpr (with_field) {
            down[0] = fma(z_weight, sum_x, down[0]);
            down[1] = fma(z_weight, sum_y, down[1]);
            down[2] = fma(evaluate_one<P>(slopes, P - 1, point.fraction[2] - 0.5, z), sum, down[2]);
        }
    }
    auto& out = task.sums[point.row];
    out.w += potential;
    if constexpr (with_field) {
        const auto& shape = task.shape;
        out.x -= shape.mesh[0] / shape.length[0] * down[0];
        out.y -= shape.mesh[1] / shape.length[1] * down[1];
        out.z -= shape.mesh[2] / shape.length[2] * down[2];
    }
}

template <int P, bool with_field>
__global__ void __launch_bounds__(threads) gather_kernel(const __grid_constant__ GatherTask task) {
    extern __shared__ double memory[];
    constexpr int side = bin_side + P - 1, tile_size = side * side * side, row = padded_order(P);
    double* const tile = memory;
    double* const values = tile + tile_size;
    double* const slopes = values + P * row;
    const auto chunk = task.chunks[blockIdx.x];
    const int thread = static_cast<int>(threadIdx.x);
    int origin[3];
    task.shape.first_of_tile(chunk.bin, origin);
    for (int i = thread; i < tile_size; i += threads) {
        const int x = i % side, y = i / side % side, z = i / (side * side);
        tile[i] = task.mesh[task.shape.index(origin[0] + x, origin[1] + y, origin[2] + z)];
    }
    for (int i = thread; i < P * row; i += threads) values[i] = task.values[i];
    if constexpr (with_field)
        for (int i = thread; i < (P - 1) * row; i += threads) slopes[i] = task.slopes[i];
    __syncthreads();
    for (int i = thread; i < chunk.count; i += threads)
        gather_point<P, with_field>(task, task.points[chunk.first + i], tile, values, slopes);
}

template <int P, bool with_field>
void launch_gather(const GatherTask& task, cudaStream_t stream) {
    constexpr int side = bin_side + P - 1;
    constexpr auto bytes = sizeof(double) * (side * side * side + 2 * P * padded_order(P));
    const auto kernel = gather_kernel<P, with_field>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "gathering from a mesh");
    kernel<<<static_cast<unsigned>(task.chunk_count), threads, bytes, stream>>>(task);
    check_launch("gathering from a mesh");
}

template <bool with_field, int... Orders>
void launch_of_order(const GatherTask& task, cudaStream_t stream,
                     std::integer_sequence<int, Orders...> /*from the least*/) {
    static_cast<void>(
        ((task.shape.order == least_spline_order + Orders
              ? (launch_gather<least_spline_order + Orders, with_field>(task, stream), true)
              : false) ||
         ...));
}

} // namespace

void gather(const GatherTask& task, bool with_field, cudaStream_t stream) {
    if (task.chunk_count == 0) return;
    const std::make_integer_sequence<int, most_spline_order - least_spline_order + 1> orders;
    if (with_field)
        launch_of_order<true>(task, stream, orders);
    else
        launch_of_order<false>(task, stream, orders);
}

} // namespace farfield::cuda
