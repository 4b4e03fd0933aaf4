// Strengths spread onto a mesh: a block for each chunk of a bin's points. The chunk's tile lies in shared
// memory, and each of its planes belongs to one warp, which goes through all points in their order; so no
// two threads ever add to one number. Tiles are then added to the mesh as whole numbers.
#include "backend/cuda/check.h"
#include "sums/pme/cuda/mesh_task.cuh"

#include <algorithm>

namespace farfield::cuda {
namespace {

constexpr int warps = 8, threads = 32 * warps, batch = 32;
/// Entries of a plane of a point's mesh points that a lane adds to: order² over 32 lanes.
constexpr int most_entries = (most_spline_order * most_spline_order + 31) / 32;

__global__ void __launch_bounds__(threads) spread_kernel(const __grid_constant__ SpreadTask task) {
    extern __shared__ double memory[];
    const int p = task.shape.order, side = task.shape.tile_side(), row = padded_order(p);
    const int tile_size = side * side * side;
    double* const tile = memory;
    double* const values = tile + tile_size;
    double* const weights = values + p * row; // [point][axis][j]; those along z times the strength
    __shared__ int places[batch];
    const auto chunk = task.chunks[blockIdx.x];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    for (int i = thread; i < tile_size; i += threads) tile[i] = 0.0;
    for (int i = thread; i < p * row; i += threads) values[i] = task.values[i];

    int offset[most_entries], along_x[most_entries], along_y[most_entries];
#pragma unroll
    for (int e = 0; e < most_entries; ++e) {
        const int entry = min(lane + 32 * e, p * p - 1);
        along_y[e] = entry / p;
        along_x[e] = entry - along_y[e] * p;
        offset[e] = along_y[e] * side + along_x[e];
    }
    for (int first = 0; first < chunk.count; first += batch) {
        const int count = min(batch, chunk.count - first);
        const MeshPoint* const points = task.points + chunk.first + first;
        __syncthreads();
        for (int i = thread; i < count * 3 * p; i += threads) {
            const int j = i % p, axis = i / p % 3, of = i / (3 * p);
            const double s = points[of].fraction[axis] - 0.5;
            double weight = values[(p - 1) * row + j];
            for (int k = p - 2; k >= 0; --k) weight = fma(weight, s, values[k * row + j]);
            if (axis == 2) weight *= task.strengths[points[of].row];
            weights[i] = weight;
            if (axis == 0 && j == 0) places[of] = points[of].place;
        }
        __syncthreads();
        for (int of = 0; of < count; ++of) {
            const int place = places[of];
            const int x = place & 15, y = place >> 4 & 15, z = place >> 8;
            const double* const weight = weights + of * 3 * p;
            for (int plane = z + ((warp - z) & (warps - 1)); plane < z + p; plane += warps) {
                const double along_z = weight[2 * p + plane - z];
                double* const at = tile + (plane * side + y) * side + x;
#pragma unroll
                for (int e = 0; e < most_entries; ++e)
                    if (lane + 32 * e < p * p)
                        at[offset[e]] = fma(along_z * weight[p + along_y[e]], weight[along_x[e]], at[offset[e]]);
            }
            __syncwarp(); // the next point's lanes are others
        }
    }
    __syncthreads();
    int origin[3];
    task.shape.first_of_tile(chunk.bin, origin);
    for (int i = thread; i < tile_size; i += threads) {
        if (tile[i] == 0.0) continue;
        const int x = i % side, y = i / side % side, z = i / (side * side);
        atomicAdd(task.mesh + task.shape.index(origin[0] + x, origin[1] + y, origin[2] + z),
                  static_cast<unsigned long long>(__double2ll_rn(tile[i] * task.unit)));
    }
}

} // namespace

void spread(const SpreadTask& task, cudaStream_t stream) {
    if (task.chunk_count == 0) return;
    const int p = task.shape.order, side = task.shape.tile_side();
    const auto bytes = sizeof(double) * (side * side * side + p * padded_order(p) + batch * 3 * p);
    check(cudaFuncSetAttribute(spread_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "spreading strengths");
    spread_kernel<<<static_cast<unsigned>(task.chunk_count), threads, bytes, stream>>>(task);
    check_launch("spreading strengths");
}

} // namespace farfield::cuda
