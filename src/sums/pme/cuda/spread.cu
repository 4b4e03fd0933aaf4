// Strengths spread onto a mesh: a block for each chunk of a bin's points. The chunk's tile lies in shared
// memory, and each of its planes belongs to one warp, which goes through all points in their order; so no
// two threads ever add to one number. Tiles are then added to the mesh as whole numbers.
#include "backend/cuda/check.h"
#include "sums/pme/cuda/mesh_tile.cuh"

namespace farfield::cuda {
namespace {

constexpr int warps = 8, threads = 32 * warps, batch = 32;

template <int P>
struct SpreadMemory {
    double tile[TilePlaces<P>::size];
    double values[P * padded_order(P)];
    double weights[batch][3][P]; ///< those along z times the strength
    int places[batch];
    TilePlaces<P> on_mesh;
};

template <int P>
__global__ void __launch_bounds__(threads) spread_kernel(const __grid_constant__ SpreadTask task) {
    extern __shared__ double shared[];
    auto& memory = *reinterpret_cast<SpreadMemory<P>*>(shared);
    constexpr int side = tile_side_of(P), row = padded_order(P);
    constexpr int entries = (P * P + 31) / 32; // of a plane of a point's mesh points, for a lane
    const auto chunk = task.chunks[blockIdx.x];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    memory.on_mesh.set(task.shape, chunk.bin);
    for (int i = thread; i < TilePlaces<P>::size; i += threads) memory.tile[i] = 0.0;
    for (int i = thread; i < P * row; i += threads) memory.values[i] = task.values[i];
    for (int first = 0; first < chunk.count; first += batch) {
        const int count = min(batch, chunk.count - first);
        const MeshPoint* const points = task.points + chunk.first + first;
        __syncthreads();
        for (int i = thread; i < count * 3 * P; i += threads) {
            const int j = i % P, axis = i / P % 3, of = i / (3 * P);
            double weight = evaluate_spline(memory.values, P, row, points[of].fraction[axis] - 0.5, j);
            if (axis == 2) weight *= task.strengths[points[of].row];
            memory.weights[of][axis][j] = weight;
            if (axis == 0 && j == 0) memory.places[of] = points[of].place;
        }
        __syncthreads();
        for (int of = 0; of < count; ++of) {
            const int place = memory.places[of];
            const int x = place & 15, y = place >> 4 & 15, z = place >> 8;
            const auto& weights = memory.weights[of];
            for (int plane = z + ((warp - z) & (warps - 1)); plane < z + P; plane += warps) {
                const double along_z = weights[2][plane - z];
                double* const at = memory.tile + (plane * side + y) * side + x;
#pragma unroll
                for (int e = 0; e < entries; ++e) {
                    const int entry = lane + 32 * e, of_y = entry / P, of_x = entry % P;
                    if (entry >= P * P) continue;
                    double& to = at[of_y * side + of_x];
                    to = fma(along_z * weights[1][of_y], weights[0][of_x], to);
                }
            }
            __syncwarp(); // the next point's lanes are others
        }
    }
    __syncthreads();
    for (int i = thread; i < TilePlaces<P>::size; i += threads) {
        if (memory.tile[i] == 0.0) continue;
        atomicAdd(task.mesh + memory.on_mesh.index(task.shape, i),
                  static_cast<unsigned long long>(__double2ll_rn(memory.tile[i] * task.unit)));
    }
}

} // namespace

void spread(const SpreadTask& task, cudaStream_t stream) {
    if (task.chunk_count == 0) return;
    with_order(task.shape.order, [&]<int P>() {
        constexpr auto bytes = sizeof(SpreadMemory<P>);
        check(cudaFuncSetAttribute(spread_kernel<P>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)),
              "spreading strengths");
        spread_kernel<P><<<static_cast<unsigned>(task.chunk_count), threads, bytes, stream>>>(task);
        check_launch("spreading strengths");
    });
}

} // namespace farfield::cuda
