// Numbers of a sparse grid collect from points. A warp walks up a column of the grid; lanes own its numbers,
// two each, in the w planes that points of the plane at hand touch. Instantiated for one type of numbers a
// file.
#pragma once

#include "backend/cuda/check.h"
#include "sums/gauss/cuda/grid_lanes.cuh"
#include "sums/gauss/cuda/grid_widths.cuh"
#include "sums/gauss/cuda/sparse.cuh"

#include <algorithm>

namespace farfield::cuda {

constexpr int collect_warps = 2; ///< of a thread block

template <class Real, int Width>
struct CollectKernelTask {
    PointsInColumns<Real> sources;
    const Real* strengths;
    PairedWindow<Real, Width> window;
    int length[3];
    int planes; ///< of a walk
    Real* grid;
};

/// Taps of up to 32 points. Those of the first two axes have zeros on either side, for the numbers of the
/// column that a point does not touch. Rows are so long that lanes that write some meet in few banks.
template <class Real, int Width>
struct CollectTable {
    static constexpr int margin = column_side - 1;
    static constexpr int axis = Width + 2 * margin;
    static constexpr int piece = 16 / static_cast<int>(sizeof(Real));
    static constexpr int pieces = (Width + piece - 1) / piece;
    alignas(16) Real z[32][(pieces % 2 == 0 ? pieces + 1 : pieces) * piece]; ///< times the strength
    static constexpr int stride = 2 * axis + 1;
    Real xy[32 * stride];
    std::int32_t offset[32]; ///< in a row along the first axis, and from bit 8 on in that along the second

    __device__ void clear() {
        for (int k = static_cast<int>(threadIdx.x % 32); k < 32 * stride; k += 32) xy[k] = Real(0);
    }
};

/// Columns whose points may touch a column: its own and those before it.
template <int Width>
struct ColumnsAbout {
    static constexpr int side = 1 + (Width - 1 + column_side - 1) / column_side;
    static constexpr int all = side * side;
};

/// Points of one plane of the columns about a column; lane l < all knows those of the l-th.
struct PlaneOfPoints {
    int begin = 0, count = 0;

    template <int Width, class Real>
    __device__ void look_up(const PointsInColumns<Real>& points, int column_x, int column_y, int z) {
        using About = ColumnsAbout<Width>;
        const int lane = static_cast<int>(threadIdx.x % 32);
        const int x = column_x - lane % About::side, y = column_y - lane / About::side;
        count = 0;
        if (lane >= About::all || x < 0 || y < 0 || z >= points.columns.planes) return;
        const int plane = points.columns.plane(x, y, z);
        begin = points.starts[plane];
        count = points.starts[plane + 1] - begin;
    }
};

template <class Real, int Width>
class Collector {
    using About = ColumnsAbout<Width>;
    using Table = CollectTable<Real, Width>;
    const CollectKernelTask<Real, Width>& task_;
    CollectTable<Real, Width>& table_;
    int column_[2];
    Real sums_[2][Width] = {}; ///< of a lane's numbers; the lowest plane first

    /// The taps of up to 32 points, from the `first`-th of the plane on. @return how many touch the column
    __device__ int make_rows(const PlaneOfPoints& plane, int first) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        int item = first + lane, index = -1, from = 0;
#pragma unroll
        for (int l = 0; l < About::all; ++l) {
            const int begin = __shfl_sync(all_lanes, plane.begin, l),
                      count = __shfl_sync(all_lanes, plane.count, l);
            if (item >= 0 && item < count) {
                index = begin + item;
                from = l;
            }
            item -= count;
        }
        GridPoint<Real> point{};
        if (index >= 0) point = task_.sources.points[index];
        const int x = column_side * (from % About::side) - CellInColumn::x(point.place);
        const int y = column_side * (from / About::side) - CellInColumn::y(point.place);
        const bool touches = index >= 0 && x < Width && y < Width;
        const unsigned which = __ballot_sync(all_lanes, touches);
        __syncwarp();
        if (touches) {
            const int row = __popc(which & ((1U << lane) - 1U));
            Real taps[Width];
#pragma unroll
            for (int axis = 0; axis < 2; ++axis) {
                paired_taps(task_.window.value, point.u[axis], Real(1), taps);
                Real* to = table_.xy + row * Table::stride + axis * Table::axis + Table::margin;
#pragma unroll
                for (int k = 0; k < Width; ++k) to[k] = taps[k];
            }
            paired_taps(task_.window.value, point.u[2], Real(1), taps);
            store_taps(taps, task_.strengths[index], table_.z[row]);
            table_.offset[row] = x + Table::margin | (Table::axis + y + Table::margin) << 8;
        }
        __syncwarp();
        return __popc(which);
    }

    __device__ void add(int row) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        Real last[Width];
        load_taps(table_.z[row], last);
        const int offset = table_.offset[row];
        const Real* const xy = table_.xy + row * Table::stride;
        const Real x = xy[lane % 8 + (offset & 255)];
        const Real* const y = xy + lane / 8 + (offset >> 8);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const Real weight = x * y[4 * half];
#pragma unroll
            for (int k = 0; k < Width; ++k) sums_[half][k] = Ops<Real>::fma(weight, last[k], sums_[half][k]);
        }
    }

    /// The lowest plane is complete; the others move down.
    __device__ void leave(int z, bool counts) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        const int x = column_[0] * column_side + lane % 8;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int y = column_[1] * column_side + lane / 8 + 4 * half;
            if (counts && x < task_.length[0] && y < task_.length[1])
                task_.grid[(static_cast<std::int64_t>(z) * task_.length[1] + y) * task_.length[0] + x] =
                    sums_[half][0];
#pragma unroll
            for (int k = 0; k + 1 < Width; ++k) sums_[half][k] = sums_[half][k + 1];
            sums_[half][Width - 1] = Real(0);
        }
    }

public:
    __device__ Collector(const CollectKernelTask<Real, Width>& task, CollectTable<Real, Width>& table,
                         int column)
        : task_(task), table_(table), column_{column % task.sources.columns.count[0],
                                              column / task.sources.columns.count[0]} {
        table_.clear();
        __syncwarp();
    }

    /// Writes planes [begin, end).
    __device__ void walk(int begin, int end) {
        const int lowest = max(0, begin - Width + 1);
        PlaneOfPoints plane, next;
        next.look_up<Width>(task_.sources, column_[0], column_[1], lowest);
        for (int z = lowest; z < end; ++z) {
            plane = next;
            next.look_up<Width>(task_.sources, column_[0], column_[1], z + 1);
            int points = plane.count;
#pragma unroll
            for (int apart = 16; apart > 0; apart /= 2) points += __shfl_xor_sync(all_lanes, points, apart);
            for (int first = 0; first < points; first += 32) {
                const int count = make_rows(plane, first);
                for (int k = 0; k < count; ++k) add(k);
            }
            leave(z, z >= begin);
        }
    }
};

template <class Real, int Width>
__global__ void __launch_bounds__(32 * collect_warps)
    collect_kernel(const __grid_constant__ CollectKernelTask<Real, Width> task) {
    __shared__ alignas(16) CollectTable<Real, Width> tables[collect_warps];
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int column = static_cast<int>(blockIdx.x) * collect_warps + warp;
    if (column >= task.sources.columns.count[0] * task.sources.columns.count[1]) return;
    const int begin = static_cast<int>(blockIdx.y) * task.planes;
    Collector<Real, Width>(task, tables[warp], column).walk(begin, min(task.length[2], begin + task.planes));
}

template <class Real, int Width>
void launch_collect(const CollectTask<Real>& task, cudaStream_t stream) {
    const auto& columns = task.sources.columns;
    const auto& length = task.placing.length;
    // Short walks where there are few columns: enough warps for a large GPU. A walk begins w − 1 planes
    // early.
    constexpr int wanted_walks = 4096, least_planes = 12;
    const int all_columns = columns.count[0] * columns.count[1];
    const int planes = static_cast<int>(std::clamp<std::int64_t>(
        std::int64_t{all_columns} * length[2] / wanted_walks, least_planes, planes_of_a_walk));
    const CollectKernelTask<Real, Width> of{task.sources,
                                            task.strengths,
                                            PairedWindow<Real, Width>(*task.window),
                                            {length[0], length[1], length[2]},
                                            planes,
                                            task.grid};
    const dim3 blocks(static_cast<unsigned>((all_columns + collect_warps - 1) / collect_warps),
                      static_cast<unsigned>((length[2] + planes - 1) / planes));
    collect_kernel<Real, Width><<<blocks, 32 * collect_warps, 0, stream>>>(of);
    check_launch("collecting points");
}

template <class Real>
void collect_points(const CollectTask<Real>& task, cudaStream_t stream) {
    with_space_width<Real>(task.window->width,
                           [&]<int width, int>() { launch_collect<Real, width>(task, stream); });
}

} // namespace farfield::cuda
