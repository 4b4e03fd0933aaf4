// Takes values and gradients of points in columns from a sparse grid: a thread block has the grid about some
// columns in shared memory. Instantiated for one type of numbers a file.
#pragma once

#include "backend/cuda/check.h"
#include "sums/gauss/cuda/grid_widths.cuh"
#include "sums/gauss/cuda/sparse.cuh"
#include "sums/gauss/cuda/value_results.cuh"

namespace farfield::cuda {

constexpr int column_value_warps = 8; ///< of a thread block

/// The part of a grid that a block has in shared memory. Rows are as long as lets lanes whose slots follow
/// one another meet no bank twice: their length is w and whole banks.
template <class Real, int Width>
struct GridBlock {
    static constexpr int columns = sizeof(Real) == 8 ? 2 : 4;  ///< along the first axis
    static constexpr int planes = sizeof(Real) == 8 ? 12 : 16; ///< cells along the last axis
    static constexpr int cells = columns * column_side;
    static constexpr int row = cells + Width;
    static constexpr int rows = column_side + Width - 1;
    static constexpr int layers = planes + Width - 1;
    static constexpr int plane = row * rows;
    static constexpr int numbers = (plane * layers + 3) / 4 * 4;
    static constexpr int batch = 16; ///< points whose taps a warp makes at a time
};

/// Sums four values over the warp; lane l gets value l % 4.
template <class Real>
__device__ inline Real sum_of_warp(const Real (&v)[4]) {
    const bool odd = threadIdx.x % 2 != 0, high = threadIdx.x / 2 % 2 != 0;
    const Real low_pair = (odd ? v[1] : v[0]) + __shfl_xor_sync(all_lanes, odd ? v[0] : v[1], 1);
    const Real high_pair = (odd ? v[3] : v[2]) + __shfl_xor_sync(all_lanes, odd ? v[2] : v[3], 1);
    Real sum = (high ? high_pair : low_pair) + __shfl_xor_sync(all_lanes, high ? low_pair : high_pair, 2);
#pragma unroll
    for (int apart = 4; apart < 32; apart *= 2) sum += __shfl_xor_sync(all_lanes, sum, apart);
    return sum;
}

template <class Real, int Width>
struct ColumnValueTask {
    PointsInColumns<Real> targets;
    PairedWindow<Real, Width> window;
    int length[3];
    const Real* grid;
    ValueResults<Real> results;
};

template <class Real, int Width, bool with_slopes>
constexpr std::size_t column_value_bytes() {
    using Block = GridBlock<Real, Width>;
    return sizeof(Real) * (Block::numbers + static_cast<std::size_t>(column_value_warps) * Block::batch *
                                                TapRows<Real, Width, 3, with_slopes>::row);
}

template <class Real, int Width, bool with_slopes>
class ColumnValues {
    using Block = GridBlock<Real, Width>;
    using Rows = TapRows<Real, Width, 3, with_slopes>;
    static constexpr int rounds = (Width * Width + 31) / 32;
    const ColumnValueTask<Real, Width>& task_;
    const Real* block_;
    Real* table_;
    int first_plane_;

    /// Adds this lane's share of the value, and of derivatives, of the point whose taps are in `row`.
    template <int columns>
    __device__ void add(const Real* row, const Real* corner, Real (&out)[columns], int column) const {
        using O = Ops<Real>;
        const int lane = static_cast<int>(threadIdx.x % 32);
        Real last[Width], last_slope[Width];
        load_taps(row + 2 * Rows::axis, last);
        if constexpr (with_slopes) load_taps(row + Rows::slopes + 2 * Rows::axis, last_slope);
#pragma unroll
        for (int round = 0; round < rounds; ++round) {
            const int slot = 32 * round + lane;
            if (slot >= Width * Width) continue;
            const int x = slot % Width, y = slot / Width;
            const Real* number = corner + y * Block::row + x;
            Real along = Real(0), slope_along = Real(0);
#pragma unroll
            for (int i = 0; i < Width; ++i) {
                const Real value = number[i * Block::plane];
                along = O::fma(value, last[i], along);
                if constexpr (with_slopes) slope_along = O::fma(value, last_slope[i], slope_along);
            }
            const Real at_x = row[x], at_y = row[Rows::axis + y];
            out[column] = O::fma(at_x * at_y, along, out[column]);
            if constexpr (with_slopes) {
                out[1] = O::fma(row[Rows::slopes + x] * at_y, along, out[1]);
                out[2] = O::fma(at_x * row[Rows::slopes + Rows::axis + y], along, out[2]);
                out[3] = O::fma(at_x * at_y, slope_along, out[3]);
            }
        }
    }

    __device__ void write(int point, int column, Real value) const {
        task_.results.template write<3>(point, task_.results.from[point], column, value);
    }

public:
    __device__ ColumnValues(const ColumnValueTask<Real, Width>& task, const Real* block, Real* table,
                            int first_plane)
        : task_(task), block_(block), table_(table), first_plane_(first_plane) {}

    /// The points [from, to) of a column, `column` of the block, in batches. Warps take all columns' batches
    /// in turn. @param batch  the number of the column's first one @return that of the next column's
    __device__ int run(int column, int from, int to, int batch) {
        const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
        const int own = (warp + column_value_warps - batch % column_value_warps) % column_value_warps;
        for (int first = from + own * Block::batch; first < to; first += column_value_warps * Block::batch) {
            const int count = min(Block::batch, to - first);
            int corner = 0;
            __syncwarp();
            if (lane < count) {
                const auto point = task_.targets.points[first + lane];
                make_taps<Real, Width, 3, with_slopes>(task_.window, point, Real(1),
                                                       table_ + lane * Rows::row);
                corner = (CellInColumn::z(point.place) - first_plane_) * Block::plane +
                         CellInColumn::y(point.place) * Block::row + column * column_side +
                         CellInColumn::x(point.place);
            }
            __syncwarp();
            constexpr int at_once = with_slopes ? 1 : 4;
            for (int k = 0; k < count; k += at_once) {
                Real values[4] = {};
#pragma unroll
                for (int n = 0; n < at_once; ++n) {
                    const int mine = min(k + n, count - 1);
                    add(table_ + mine * Rows::row, block_ + __shfl_sync(all_lanes, corner, mine), values, n);
                }
                const Real sum = sum_of_warp(values);
                if constexpr (with_slopes) {
                    if (lane < 4) write(first + k, lane, sum);
                } else {
                    if (lane < 4 && k + lane < count) write(first + k + lane, 0, sum);
                }
            }
        }
        return batch + (to - from + Block::batch - 1) / Block::batch;
    }
};

template <class Real, int Width, bool with_slopes>
__global__ void __launch_bounds__(32 * column_value_warps)
    column_value_kernel(const __grid_constant__ ColumnValueTask<Real, Width> task) {
    using Block = GridBlock<Real, Width>;
    extern __shared__ __align__(16) unsigned char block_memory[];
    Real* const block = reinterpret_cast<Real*>(block_memory);
    const auto& columns = task.targets.columns;
    const int along = (columns.count[0] + Block::columns - 1) / Block::columns;
    const int place = static_cast<int>(blockIdx.x) % (along * columns.count[1]);
    const int x = place % along * Block::columns, y = place / along;
    const int first_plane = static_cast<int>(blockIdx.x) / (along * columns.count[1]) * Block::planes;
    const int end_plane = min(columns.planes, first_plane + Block::planes);
    int from[Block::columns], to[Block::columns];
    bool any = false;
#pragma unroll
    for (int column = 0; column < Block::columns; ++column) {
        from[column] = to[column] = 0;
        if (x + column >= columns.count[0]) continue;
        from[column] = task.targets.starts[columns.plane(x + column, y, first_plane)];
        to[column] = task.targets.starts[columns.plane(x + column, y, end_plane - 1) + 1];
        any = any || from[column] < to[column];
    }
    if (!any) return;
    for (int k = static_cast<int>(threadIdx.x); k < Block::plane * Block::layers;
         k += 32 * column_value_warps) {
        const int at_x = x * column_side + k % Block::row,
                  at_y = y * column_side + k / Block::row % Block::rows;
        const int at_z = first_plane + k / Block::plane;
        const bool inside = at_x < task.length[0] && at_y < task.length[1] && at_z < task.length[2];
        block[k] =
            inside
                ? task.grid[(static_cast<std::int64_t>(at_z) * task.length[1] + at_y) * task.length[0] + at_x]
                : Real(0);
    }
    __syncthreads();
    const int warp = static_cast<int>(threadIdx.x / 32);
    Real* const table =
        block + Block::numbers + warp * Block::batch * TapRows<Real, Width, 3, with_slopes>::row;
    ColumnValues<Real, Width, with_slopes> values(task, block, table, first_plane);
    int batch = 0;
#pragma unroll
    for (int column = 0; column < Block::columns; ++column)
        batch = values.run(column, from[column], to[column], batch);
}

template <class Real, int Width, bool with_slopes>
void launch_column_values(const ColumnValueTask<Real, Width>& of, cudaStream_t stream) {
    using Block = GridBlock<Real, Width>;
    constexpr auto bytes = column_value_bytes<Real, Width, with_slopes>();
    const auto kernel = column_value_kernel<Real, Width, with_slopes>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "asking for shared memory");
    const auto& columns = of.targets.columns;
    const int along = (columns.count[0] + Block::columns - 1) / Block::columns;
    // along one axis of the launch: the others end at 65535
    const int blocks = along * columns.count[1] * ((columns.planes + Block::planes - 1) / Block::planes);
    kernel<<<blocks, 32 * column_value_warps, bytes, stream>>>(of);
    check_launch("taking values");
}

template <class Real>
bool has_room_for_columns(int width) {
    int device = 0, most = 0;
    check(cudaGetDevice(&device), "asking for the GPU");
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "asking for shared memory");
    std::size_t bytes = 0;
    with_space_width<Real>(width, [&]<int w, int>() { bytes = column_value_bytes<Real, w, true>(); });
    return bytes <= static_cast<std::size_t>(most);
}

template <class Real>
void take_values_of_columns(const ValueTask<Real>& task, const PointsInColumns<Real>& targets,
                            cudaStream_t stream) {
    with_space_width<Real>(task.window->width, [&]<int width, int>() {
        const auto& placing = task.placing;
        const ColumnValueTask<Real, width> of{targets,
                                              PairedWindow<Real, width>(*task.window),
                                              {placing.length[0], placing.length[1], placing.length[2]},
                                              task.grid.numbers,
                                              ValueResults<Real>(task)};
        if (task.gradient != nullptr)
            launch_column_values<Real, width, true>(of, stream);
        else
            launch_column_values<Real, width, false>(of, stream);
    });
}

} // namespace farfield::cuda
