// M2L as products of matrices: for one neighbour n all targets of an octant have the same operator, so that
// its real matrix (real_form.h) meets a matrix whose columns are the targets' sources. A block computes
// `rows` rows for 64 targets, over the neighbours that are its split's; sums stay in registers until the end.
// No atomics: the same bits from run to run.
#include "backend/cuda/check.h"
#include "studies/fmm_strategies/cuda/tiles.cuh"

#include <algorithm>

namespace farfield::strategies {
namespace {

constexpr int thread_rows = 4, thread_targets = 4;

// A chunk: 16 columns of the matrix for all rows of the block, and those 16 numbers of 64 sources.
template <class Real, int rows>
struct Chunks {
    static constexpr int threads = rows / thread_rows * (tile_targets / thread_targets);
    static constexpr int matrix_each = tile_chunk * rows / threads;         // 4
    static constexpr int source_each = tile_chunk * tile_targets / threads; // 4 … 16, of one target
    static constexpr int stride = tile_targets + 4; // columns of a thread's writes fall into other banks

    struct Memory {
        alignas(16) Real matrix[2][tile_chunk][rows];
        alignas(16) Real source[2][tile_chunk][stride];
    };
};

template <class Real, int rows>
__global__ __launch_bounds__(Chunks<Real, rows>::threads) void tiles_kernel(TileProblem<Real> at, int columns,
                                                                            int all_rows) {
    using Shape = Chunks<Real, rows>;
    __shared__ typename Shape::Memory memory;
    __shared__ short list[neighbours];
    const int thread = static_cast<int>(threadIdx.x);
    const auto* tile = at.slot + blockIdx.x * tile_targets;
    const int found = list_neighbours(tile, tile_targets, list);

    // what this thread fetches: some numbers of one target's source, and of one column
    constexpr int parts = tile_chunk / Shape::source_each;
    const auto mine = tile[thread / parts];
    const int source_row = thread % parts * Shape::source_each;
    const int matrix_row = thread * Shape::matrix_each % rows,
              matrix_column = thread * Shape::matrix_each / rows;
    const int row_begin = static_cast<int>(blockIdx.y) * rows;
    Real next_matrix[Shape::matrix_each], next_source[Shape::source_each];

    const int chunks = columns / tile_chunk, first = static_cast<int>(blockIdx.z);
    const int trips = first < found ? (found - first + at.splits - 1) / at.splits * chunks : 0;
    const Real *matrix_from = nullptr, *source_from = nullptr;
    const auto fetch = [&](int trip) {
        const int chunk = trip % chunks;
        if (chunk == 0) {
            const int n = list[first + trip / chunks * at.splits];
            const int source = source_of(mine, n).source;
            source_from =
                source < 0 ? nullptr : at.omega + static_cast<std::size_t>(source) * columns + source_row;
            matrix_from = at.matrices +
                          static_cast<std::size_t>(operator_of(tile[0], n)) * columns * all_rows +
                          static_cast<std::size_t>(matrix_column) * all_rows + row_begin + matrix_row;
        }
#pragma unroll
        for (int i = 0; i < Shape::matrix_each; ++i)
            next_matrix[i] = matrix_from[static_cast<std::size_t>(chunk) * tile_chunk * all_rows + i];
#pragma unroll
        for (int i = 0; i < Shape::source_each; ++i)
            next_source[i] = source_from == nullptr ? Real(0) : source_from[chunk * tile_chunk + i];
    };
    const auto keep = [&](int buffer) {
#pragma unroll
        for (int i = 0; i < Shape::matrix_each; ++i)
            memory.matrix[buffer][matrix_column][matrix_row + i] = next_matrix[i];
#pragma unroll
        for (int i = 0; i < Shape::source_each; ++i)
            memory.source[buffer][source_row + i][thread / parts] = next_source[i];
    };

    const int my_row = thread / (tile_targets / thread_targets) * thread_rows;
    const int my_target = thread % (tile_targets / thread_targets) * thread_targets;
    Real sum[thread_rows][thread_targets] = {};
    if (trips > 0) {
        fetch(0);
        keep(0);
    }
    __syncthreads();
    for (int trip = 0; trip < trips; ++trip) {
        const int buffer = trip % 2;
        if (trip + 1 < trips) fetch(trip + 1);
#pragma unroll
        for (int column = 0; column < tile_chunk; ++column) {
            Real matrix[thread_rows], source[thread_targets];
#pragma unroll
            for (int i = 0; i < thread_rows; ++i) matrix[i] = memory.matrix[buffer][column][my_row + i];
#pragma unroll
            for (int i = 0; i < thread_targets; ++i) source[i] = memory.source[buffer][column][my_target + i];
#pragma unroll
            for (int r = 0; r < thread_rows; ++r)
#pragma unroll
                for (int t = 0; t < thread_targets; ++t) sum[r][t] += matrix[r] * source[t];
        }
        if (trip + 1 < trips) keep(1 - buffer);
        __syncthreads();
    }
    for (int t = 0; t < thread_targets; ++t) {
        const auto slot =
            static_cast<std::size_t>(blockIdx.z) * at.slots + blockIdx.x * tile_targets + my_target + t;
        for (int r = 0; r < thread_rows; ++r)
            at.partial[slot * all_rows + row_begin + my_row + r] = sum[r][t];
    }
}

template <class Real>
__global__ void sum_kernel(TileProblem<Real> at, int row_stride) {
    const auto size = static_cast<std::size_t>(real_size(at.order));
    const std::size_t place = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (place >= static_cast<std::size_t>(at.slots) * size) return;
    const std::size_t slot = place / size, row = place % size;
    Real sum = 0;
    for (int split = 0; split < at.splits; ++split)
        sum += at.partial[(static_cast<std::size_t>(split) * at.slots + slot) * row_stride + row];
    at.mu[place] = sum;
}

// One block an operator and some columns.
template <class Real>
__global__ void matrices_kernel(const Complex<Real>* operators, int order, int columns, int rows, Real* out) {
    const auto* op = operators + static_cast<std::size_t>(blockIdx.x) * half_size(2 * order);
    out += static_cast<std::size_t>(blockIdx.x) * columns * rows;
    const int size = real_size(order);
    for (int place = static_cast<int>(threadIdx.x); place < columns * rows;
         place += static_cast<int>(blockDim.x)) {
        const int column = place / rows, row = place % rows;
        out[place] = row < size && column < size ? matrix_entry(op, row, column) : Real(0);
    }
}

template <class Real>
__global__ void real_kernel(const Complex<Real>* omega, int order, int columns, Real* out) {
    const auto* from = omega + static_cast<std::size_t>(blockIdx.x) * half_size(order);
    for (int column = static_cast<int>(threadIdx.x); column < columns; column += static_cast<int>(blockDim.x))
        out[static_cast<std::size_t>(blockIdx.x) * columns + column] =
            column < real_size(order) ? real_part(from, column) : Real(0);
}

template <class Real, int rows>
void launch_tiles(const TileProblem<Real>& problem, cudaStream_t stream) {
    const int all_rows = padded_rows(problem.order);
    const dim3 grid(static_cast<unsigned>(problem.slots / tile_targets),
                    static_cast<unsigned>(all_rows / rows), static_cast<unsigned>(problem.splits));
    tiles_kernel<Real, rows>
        <<<grid, Chunks<Real, rows>::threads, 0, stream>>>(problem, padded_columns(problem.order), all_rows);
}

} // namespace

int splits_for(int blocks) { return std::clamp(1200 / std::max(blocks, 1), 1, 16); }

template <class Real>
void make_matrices(const Complex<Real>* operators, int order, Real* matrices, cudaStream_t stream) {
    matrices_kernel<<<offsets, 256, 0, stream>>>(operators, order, padded_columns(order), padded_rows(order),
                                                 matrices);
    cuda::check_launch("writing the matrices of operators");
}

template <class Real>
void make_real(const Complex<Real>* omega, int boxes, int order, Real* out, cudaStream_t stream) {
    real_kernel<<<static_cast<unsigned>(boxes), 128, 0, stream>>>(omega, order, padded_columns(order), out);
    cuda::check_launch("writing real moments");
}

template <class Real>
void enqueue_sum_of_splits(const TileProblem<Real>& problem, int row_stride, cudaStream_t stream) {
    const auto numbers = static_cast<unsigned>(problem.slots * real_size(problem.order));
    sum_kernel<<<(numbers + 255) / 256, 256, 0, stream>>>(problem, row_stride);
    cuda::check_launch("adding the sums of splits");
}

template <class Real>
void enqueue_tiles(const TileProblem<Real>& problem, cudaStream_t stream) {
    switch (tile_rows(problem.order)) {
    case 16:
        launch_tiles<Real, 16>(problem, stream);
        break;
    case 32:
        launch_tiles<Real, 32>(problem, stream);
        break;
    default:
        launch_tiles<Real, 64>(problem, stream);
    }
    cuda::check_launch("computing M2L by tiles");
    enqueue_sum_of_splits(problem, padded_rows(problem.order), stream);
}

#define FF_STRATEGY_TILES(Real)                                                                              \
    template void make_matrices(const Complex<Real>*, int, Real*, cudaStream_t);                             \
    template void make_real(const Complex<Real>*, int, int, Real*, cudaStream_t);                            \
    template void enqueue_sum_of_splits(const TileProblem<Real>&, int, cudaStream_t);                        \
    template void enqueue_tiles(const TileProblem<Real>&, cudaStream_t);
FF_STRATEGY_TILES(float)
FF_STRATEGY_TILES(double)
#undef FF_STRATEGY_TILES

} // namespace farfield::strategies
