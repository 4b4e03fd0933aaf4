#include "sums/fmm/cuda/narrow_levels.cuh"

#include "backend/cuda/check.h"
#include "sums/tree/near_walk.h"

#include <cooperative_groups.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace farfield::cuda {
namespace {

constexpr int narrow_warps = 8; ///< an octant each on the way up, a cell each on the way down
constexpr int narrow_threads = 32 * narrow_warps;
constexpr int narrow_blocks = 2 * 132; ///< two a multiprocessor of an H200; smaller GPUs take fewer
constexpr int least_narrow_levels = 3;
constexpr std::size_t most_memory = 48 << 10; ///< of a thread block, without asking

/// What a level may take here, and what a cell does, of an H200: a launch for each level takes about as long.
constexpr double level_microseconds = 20.0, cell_microseconds = 1.5, microseconds_a_product = 4.5e-4;

template <class Real>
std::size_t memory_of(const PlainOperators<Real>& operators) {
    return std::size_t{2 * narrow_warps} * static_cast<std::size_t>(operators.stride) * sizeof(Real);
}

/// Cells of a level, at most.
template <class Real>
std::int32_t most_narrow_cells(const PlainOperators<Real>& operators) {
    const double size = operators.size;
    const double cell = cell_microseconds + microseconds_a_product * size * size;
    return narrow_blocks * static_cast<std::int32_t>(level_microseconds / cell);
}

template <class Real>
struct NarrowTask {
    TreeView tree;
    Real* expansions; ///< of all cells
    int stride;
    const Real* matrix; ///< of octant 0: `size` columns of `rows` numbers
    int size, rows;
    const Real* signs; ///< of mirror images
    LevelSpan levels;
    std::int32_t begin[most_levels + 1]; ///< of each level of the tree
};

/// Mirrored values of an expansion, as others may have written them in this launch.
template <class Real>
__device__ void load_mirrored(const NarrowTask<Real>& task, std::int32_t cell, int octant, Real* to) {
    const Real* const from = task.expansions + static_cast<std::int64_t>(cell) * task.stride;
    for (int k = static_cast<int>(threadIdx.x) % 32; k < task.size; k += 32)
        to[k] = __ldcg(from + k) * task.signs[octant * task.stride + k];
    __syncwarp();
}

/// A row of the product of the mirrored matrix with mirrored values.
template <class Real>
__device__ Real mirrored_row(const NarrowTask<Real>& task, int octant, int row, const Real* values) {
    if (row >= task.rows) return 0;
    const Real* const matrix = task.matrix + row;
    Real sum = 0;
#pragma unroll 8
    for (int k = 0; k < task.size; ++k) sum = fma(__ldg(matrix + k * task.rows), values[k], sum);
    return sum * task.signs[octant * task.stride + row];
}

template <class Real>
__device__ Real* shared_numbers() {
    extern __shared__ __align__(16) unsigned char narrow_memory[];
    return reinterpret_cast<Real*>(narrow_memory);
}

template <class Real>
__global__ void __launch_bounds__(narrow_threads, 2)
    climb_kernel(const __grid_constant__ NarrowTask<Real> task) {
    const auto grid = cooperative_groups::this_grid();
    const int octant = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    Real* const products = shared_numbers<Real>(); // of each octant, `stride` numbers
    Real* const values = products + (narrow_warps + octant) * task.stride;
    for (int level = task.levels.end - 1; level >= task.levels.first; --level) {
        const auto end = task.begin[level + 1];
        for (auto cell = task.begin[level] + static_cast<std::int32_t>(blockIdx.x); cell < end;
             cell += static_cast<std::int32_t>(gridDim.x)) {
            if (task.tree.is_leaf(cell)) continue;
            auto child = task.tree.child(cell, octant);
            if (child != TreeView::none && !task.tree.self && task.tree.sources[child].size() == 0)
                child = TreeView::none;
            if (child != TreeView::none) load_mirrored(task, child, octant, values);
            for (int row = lane; row < task.stride; row += 32)
                products[octant * task.stride + row] =
                    child == TreeView::none ? Real(0) : mirrored_row(task, octant, row, values);
            __syncthreads();
            for (int row = static_cast<int>(threadIdx.x); row < task.stride; row += narrow_threads) {
                Real sum = 0;
                for (int o = 0; o < 8; ++o) sum += products[o * task.stride + row];
                task.expansions[static_cast<std::int64_t>(cell) * task.stride + row] = sum;
            }
            __syncthreads();
        }
        grid.sync();
    }
}

template <class Real>
__global__ void __launch_bounds__(narrow_threads, 2)
    descend_kernel(const __grid_constant__ NarrowTask<Real> task) {
    const auto grid = cooperative_groups::this_grid();
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    Real* const values = shared_numbers<Real>() + warp * task.stride;
    for (int level = max(1, task.levels.first); level < task.levels.end; ++level) {
        const auto end = task.begin[level + 1];
        for (auto cell = task.begin[level] + static_cast<std::int32_t>(blockIdx.x + gridDim.x * warp);
             cell < end; cell += static_cast<std::int32_t>(gridDim.x) * narrow_warps) {
            if (task.tree.targets[cell].size() == 0) continue;
            const int octant = task.tree.places[cell].octant();
            load_mirrored(task, task.tree.parents[cell], octant, values);
            Real* const to = task.expansions + static_cast<std::int64_t>(cell) * task.stride;
            for (int row = lane; row < task.stride; row += 32)
                to[row] = __ldcg(to + row) + mirrored_row(task, octant, row, values);
            __syncwarp();
        }
        grid.sync();
    }
}

template <class Real>
void launch_narrow(void (*kernel)(NarrowTask<Real>), const TranslateTask<Real>& of,
                   const PlainOperators<Real>& operators, const typename PlainOperators<Real>::Matrix& matrix,
                   const DeviceTree& tree, LevelSpan levels, cudaStream_t stream) {
    if (levels.size() == 0) return;
    NarrowTask<Real> task{tree.view(), of.to,       operators.stride, of.matrices + matrix.begin,
                          matrix.size, matrix.rows, of.signs,         levels,
                          {}};
    for (int level = 0; level <= levels.end; ++level) task.begin[level] = tree.level_begin(level);
    void* parameters[] = {&task};
    int device = 0, multiprocessors = 1;
    check(cudaGetDevice(&device), "asking the GPU");
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking the GPU");
    const int blocks = std::min(narrow_blocks, 2 * multiprocessors);
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), static_cast<unsigned>(blocks),
                                      narrow_threads, parameters, memory_of(operators), stream),
          "translations between narrow levels");
}

} // namespace

template <class Real>
LevelSpan narrow_levels(const DeviceTree& tree, const PlainOperators<Real>& operators, int first) {
    LevelSpan out{first, first};
    if (memory_of(operators) > most_memory) return out;
    const auto most = most_narrow_cells(operators);
    const auto cells = [&](int level) { return tree.level_begin(level + 1) - tree.level_begin(level); };
    while (out.end + 1 < tree.levels() && cells(out.end) <= most) ++out.end;
    if (out.size() < least_narrow_levels) out.end = first;
    return out;
}

template <class Real>
void climb_narrow(const TranslateTask<Real>& task, const PlainOperators<Real>& operators,
                  const DeviceTree& tree, LevelSpan levels, cudaStream_t stream) {
    launch_narrow(climb_kernel<Real>, task, operators, operators.up, tree, levels, stream);
}

template <class Real>
void descend_narrow(const TranslateTask<Real>& task, const PlainOperators<Real>& operators,
                    const DeviceTree& tree, LevelSpan levels, cudaStream_t stream) {
    launch_narrow(descend_kernel<Real>, task, operators, operators.down, tree, levels, stream);
}

#define FARFIELD_NARROW(Real)                                                                                \
    template LevelSpan narrow_levels(const DeviceTree&, const PlainOperators<Real>&, int);                   \
    template void climb_narrow(const TranslateTask<Real>&, const PlainOperators<Real>&, const DeviceTree&,   \
                               LevelSpan, cudaStream_t);                                                     \
    template void descend_narrow(const TranslateTask<Real>&, const PlainOperators<Real>&, const DeviceTree&, \
                                 LevelSpan, cudaStream_t);
FARFIELD_NARROW(float)
FARFIELD_NARROW(double)
#undef FARFIELD_NARROW

} // namespace farfield::cuda
