// Potentials and fields gathered from a mesh: a block for each chunk of a bin's points. The mesh around the
// bin lies in shared memory; four lanes share the planes of a point's mesh points.
#include "backend/cuda/check.h"
#include "sums/pme/cuda/mesh_tile.cuh"

namespace farfield::cuda {
namespace {

constexpr int lanes = 4, batch = 32, threads = lanes * batch;

template <int P>
struct GatherMemory {
    static constexpr int row = padded_order(P);
    double tile[TilePlaces<P>::size];
    double values[P * row], slopes[(P - 1) * row];
    double weights[batch][6 * P + 1]; ///< values along x, y and z, then slopes; odd, for the banks
    TilePlaces<P> on_mesh;
};

/// Sums of the planes of one lane.
struct Gathered {
    double potential = 0.0, down[3] = {0.0, 0.0, 0.0};
};

template <int P, bool with_field>
__device__ Gathered gather_planes(const double* first, const double* weights, int lane) {
    constexpr int side = tile_side_of(P);
    double x_weight[P], x_slope[P];
#pragma unroll
    for (int j = 0; j < P; ++j) {
        x_weight[j] = weights[j];
        x_slope[j] = with_field ? weights[3 * P + j] : 0.0;
    }
    Gathered out;
    for (int z = lane; z < P; z += lanes) {
        double sum = 0.0, sum_x = 0.0, sum_y = 0.0;
#pragma unroll 2
        for (int y = 0; y < P; ++y) {
            const double* const from = first + (z * side + y) * side;
            double of_row = 0.0, slope = 0.0;
#pragma unroll
            for (int x = 0; x < P; ++x) {
                of_row = fma(x_weight[x], from[x], of_row);
                if constexpr (with_field) slope = fma(x_slope[x], from[x], slope);
            }
            const double y_weight = weights[P + y];
            sum = fma(y_weight, of_row, sum);
            if constexpr (with_field) {
                sum_x = fma(y_weight, slope, sum_x);
                sum_y = fma(weights[4 * P + y], of_row, sum_y);
            }
        }
        const double z_weight = weights[2 * P + z];
        out.potential = fma(z_weight, sum, out.potential);
        if constexpr (with_field) {
            out.down[0] = fma(z_weight, sum_x, out.down[0]);
            out.down[1] = fma(z_weight, sum_y, out.down[1]);
            out.down[2] = fma(weights[5 * P + z], sum, out.down[2]);
        }
    }
    return out;
}

__device__ double sum_of_lanes(double value) {
    for (int step = lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0U, value, step);
    return value;
}

template <int P, bool with_field>
__global__ void __launch_bounds__(threads) gather_kernel(const __grid_constant__ GatherTask task) {
    extern __shared__ double shared[];
    using Memory = GatherMemory<P>;
    auto& memory = *reinterpret_cast<Memory*>(shared);
    constexpr int side = tile_side_of(P);
    const auto chunk = task.chunks[blockIdx.x];
    const int thread = static_cast<int>(threadIdx.x);
    memory.on_mesh.set(task.shape, chunk.bin);
    for (int i = thread; i < P * Memory::row; i += threads) memory.values[i] = task.values[i];
    if constexpr (with_field)
        for (int i = thread; i < (P - 1) * Memory::row; i += threads) memory.slopes[i] = task.slopes[i];
    __syncthreads();
#pragma unroll 8
    for (int i = thread; i < TilePlaces<P>::size; i += threads)
        memory.tile[i] = task.mesh[memory.on_mesh.index(task.shape, i)];
    const int of = thread / lanes, lane = thread % lanes;
    for (int first = 0; first < chunk.count; first += batch) {
        const int count = min(batch, chunk.count - first);
        const MeshPoint* const points = task.points + chunk.first + first;
        __syncthreads();
        constexpr int kinds = with_field ? 6 : 3;
        for (int i = thread; i < count * kinds * P; i += threads) {
            const int j = i % P, kind = i / P % kinds, point = i / (kinds * P);
            const double s = points[point].fraction[kind % 3] - 0.5;
            memory.weights[point][kind * P + j] =
                kind < 3 ? evaluate_spline(memory.values, P, Memory::row, s, j)
                         : evaluate_spline(memory.slopes, P - 1, Memory::row, s, j);
        }
        __syncthreads();
        Gathered sums;
        if (of < count) {
            const auto& point = points[of];
            const double* const from =
                memory.tile + (point.cell(2) * side + point.cell(1)) * side + point.cell(0);
            sums = gather_planes<P, with_field>(from, memory.weights[of], lane);
        }
        sums.potential = sum_of_lanes(sums.potential);
        if constexpr (with_field)
            for (double& down : sums.down) down = sum_of_lanes(down);
        if (of >= count || lane != 0) continue;
        auto& out = task.sums[points[of].row];
        out.w += sums.potential;
        if constexpr (with_field) {
            const auto& shape = task.shape;
            out.x -= shape.mesh[0] / shape.length[0] * sums.down[0];
            out.y -= shape.mesh[1] / shape.length[1] * sums.down[1];
            out.z -= shape.mesh[2] / shape.length[2] * sums.down[2];
        }
    }
}

template <int P, bool with_field>
void launch_gather(const GatherTask& task, cudaStream_t stream) {
    constexpr auto bytes = sizeof(GatherMemory<P>);
    const auto kernel = gather_kernel<P, with_field>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "gathering from a mesh");
    kernel<<<static_cast<unsigned>(task.chunk_count), threads, bytes, stream>>>(task);
    check_launch("gathering from a mesh");
}

} // namespace

void gather(const GatherTask& task, bool with_field, cudaStream_t stream) {
    if (task.chunk_count == 0) return;
    with_order(task.shape.order, [&]<int P>() {
        if (with_field)
            launch_gather<P, true>(task, stream);
        else
            launch_gather<P, false>(task, stream);
    });
}

} // namespace farfield::cuda
