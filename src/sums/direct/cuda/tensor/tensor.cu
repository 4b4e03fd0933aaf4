// Launches the sum whose far tiles are on tensor cores: points into the order of a curve, tiles prepared,
// then slab by slab far tiles, near tiles and partial sums; sums back into the caller's order.
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/rung_kernel.cuh"
#include "sums/direct/cuda/tensor/tensor.cuh"
#include "sums/direct/cuda/tree_launch.cuh"
#include "sums/direct/cuda/tuning.cuh"

#include <farfield/error.h>

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>

namespace farfield::cuda {

namespace {

using Far = TensorTuning::Far;
using Near = TensorTuning::Near;
static_assert(Far::tile == Near::tile);

constexpr int threads = extremes_threads, shares = 256;

int blocks_for(int n) { return (n + threads - 1) / threads; }

/// What lies in the workspace.
struct Memory {
    Extremes* extremes;
    std::uint64_t *keys, *sorted_keys;
    int *indices, *order;
    std::byte* sorting;
    Point<float>* points;
    FarArrays arrays;
    Vec4<float>* sums;
    Vec4<double>* stack;
    Vec4<float>* partials;
    std::size_t bytes;
};

std::size_t sorting_bytes(int n) {
    std::size_t bytes = 0;
    check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, static_cast<const std::uint64_t*>(nullptr),
                                          static_cast<std::uint64_t*>(nullptr),
                                          static_cast<const int*>(nullptr), static_cast<int*>(nullptr), n),
          "preparing a sort on the GPU");
    return bytes;
}

Memory laid_out(std::byte* base, int n, const Share& share) {
    std::size_t used = 0;
    const auto take = [&]<class T>(T*& array, long long count) {
        array = reinterpret_cast<T*>(base + used);
        used += (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
    };
    const long long filled = static_cast<long long>(share.ring.tiles) * Far::tile;
    Memory memory{};
    take(memory.extremes, shares);
    take(memory.keys, n);
    take(memory.sorted_keys, n);
    take(memory.indices, n);
    take(memory.order, n);
    take(memory.sorting, static_cast<long long>(sorting_bytes(n)));
    take(memory.points, n);
    take(memory.arrays.tiles, share.ring.tiles);
    take(memory.arrays.bodies, filled);
    take(memory.arrays.strengths, filled);
    take(memory.sums, n);
    take(memory.stack, static_cast<long long>(share.depth) * n);
    take(memory.partials, share.slots * filled);
    memory.bytes = used;
    return memory;
}

void put_in_order(const Point<float>* points, int n, const Memory& memory, cudaStream_t stream) {
    extremes_kernel<<<shares, threads, 0, stream>>>(points, n, memory.extremes);
    keys_kernel<<<blocks_for(n), threads, 0, stream>>>(points, n, memory.extremes, shares, memory.keys,
                                                       memory.indices);
    check_launch("ordering points");
    std::size_t bytes = sorting_bytes(n);
    check(cub::DeviceRadixSort::SortPairs(memory.sorting, bytes, memory.keys, memory.sorted_keys,
                                          memory.indices, memory.order, n, 0, 3 * hilbert_bits, stream),
          "sorting points");
    gather_kernel<<<blocks_for(n), threads, 0, stream>>>(points, memory.order, n, memory.points);
    check_launch("ordering points");
}

Share tensor_share(int n) {
    const auto ring = ring_of((n - 1) / Far::tile + 1);
    const auto slot_bytes = static_cast<long long>(ring.tiles) * Far::tile * sizeof(Vec4<float>);
    const auto fit = TensorTuning::workspace_bytes / static_cast<long long>(slot_bytes);
    return share_of(ring, 0, 1, static_cast<int>(std::clamp(fit, 2LL, 2LL * ring.distances())));
}

template <class Kernel>
void launch_tiles(Kernel kernel, int tile_pairs, int block, std::size_t shared_bytes, const FarTask& task,
                  cudaStream_t stream) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)),
          "preparing the sum on tensor cores");
    kernel<<<tile_pairs, block, shared_bytes, stream>>>(task);
    check_launch("launching the sum on tensor cores");
}

} // namespace

void launch_tensor(const PointTask<Point<float>>& task, Workspace& workspace, cudaStream_t stream) {
    if (task.outputs != field_only) throw InternalError("tensor cores compute the field alone");
    const int n = task.n_sources;
    const auto share = tensor_share(n);
    const Memory memory =
        laid_out(static_cast<std::byte*>(workspace.reserve(laid_out(nullptr, n, share).bytes)), n, share);
    put_in_order(task.sources, n, memory, stream);
    const int tiles = share.ring.tiles;
    prepare_tiles_kernel<Far><<<tiles, extremes_threads, 0, stream>>>(memory.points, n, memory.arrays);
    check_launch("preparing tiles");
    for (const auto& slab : share.slabs) {
        const FarTask work{.sum = {.points = memory.points,
                                   .n = n,
                                   .tiles = tiles,
                                   .farthest = slab.farthest,
                                   .nearest = slab.nearest,
                                   .softening2 = task.softening2,
                                   .partials = memory.partials},
                           .arrays = memory.arrays};
        const int pairs = (slab.farthest - slab.nearest + 1) * tiles;
        launch_tiles(far_kernel<Far>, pairs, Far::threads, sizeof(FarShared<Far>), work, stream);
        launch_tiles(near_kernel<Near>, pairs, Near::threads,
                     symmetric_shared_bytes<Point<float>, field_only, Near>(), work, stream);
        launch_pieces<float>(slab,
                             {.partials = memory.partials,
                              .stride = static_cast<long long>(tiles) * Far::tile,
                              .slab_nearest = slab.nearest,
                              .ring = share.ring,
                              .piece = {},
                              .n = n,
                              .stack = memory.stack,
                              .sums = memory.sums},
                             stream);
    }
    scatter_kernel<<<blocks_for(n), threads, 0, stream>>>(memory.sums, memory.order, n, task.sums);
    check_launch("ordering sums");
}

RungKernel tensor_rung_kernel() {
    return {reinterpret_cast<const void*>(&far_kernel<Far>), Far::threads,
            static_cast<int>(sizeof(FarShared<Far>))};
}

} // namespace farfield::cuda
