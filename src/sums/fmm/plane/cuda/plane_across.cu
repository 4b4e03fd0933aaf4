// M2L in the plane on tensor cores. A warp has eight columns, the expansions of targets of one level and
// quadrant, and goes through their senders: each column is multiplied by t^(−k), all of them by the real
// matrix, and the rows by (−1)ⁿ t^(−n−1).
#include "sums/fmm/plane/cuda/complex_number.cuh"
#include "sums/fmm/plane/cuda/plane_far.cuh"

#include "backend/cuda/check.h"

#include <farfield/error.h>

namespace farfield::cuda {
namespace {

constexpr int across_warps = 4;
constexpr int tile_columns = 8;
constexpr int senders_together = 32; ///< that are looked up before they are used
constexpr int matrix_piece = 2 * PlaneTensorOperators::lanes;

struct AcrossTask {
    PlaneFarView far;
    const std::int32_t* by_octant;
    PlaneRuns runs;
};

/// A warp's own shared memory.
struct Columns {
    std::int32_t cell[tile_columns]; ///< of the target, or none
    std::int32_t from[senders_together][tile_columns]; ///< numbers of expansions, or none
};

__device__ __forceinline__ void multiply(double (&c)[4], const double2& a, double b) {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a.x), "d"(a.y), "d"(b));
}

/// The run that a tile is of; asked by a warp.
__device__ __forceinline__ PlaneRuns::Run run_of(const PlaneRuns& runs, int tile) {
    int before = 0;
    for (int base = 0; base < runs.count; base += 32) {
        const int i = base + static_cast<int>(threadIdx.x);
        before += __popc(__ballot_sync(~0U, i < runs.count && runs.run[i].first_tile <= tile ? 1 : 0));
    }
    return runs.run[before - 1];
}

__device__ __forceinline__ std::int32_t sender_of(const TreeView& tree, std::int32_t target,
                                                  const PlaneSender& sender, bool coarse) {
    if (target == TreeView::none) return TreeView::none;
    std::int32_t cell = TreeView::none;
    if (coarse) {
        const auto& place = tree.places[target];
        cell = tree.coarse_cell(place.index[0] - (sender.place - 128), place.index[1] - (sender.child - 128), 0);
    } else {
        const auto near = tree.neighbour(tree.parents[target], sender.place);
        if (near != TreeView::none) cell = tree.child(near, sender.child);
    }
    return cell != TreeView::none && tree.sources[cell].size() > 0 ? cell : TreeView::none;
}

template <int row_tiles>
class AcrossWorker {
    const AcrossTask& task_;
    const PlaneOperatorsView& at_;
    const double* matrix_; ///< in shared memory
    Columns& columns_;
    const int lane_ = static_cast<int>(threadIdx.x);
    const int column_ = lane_ / 4; ///< of the numbers that it reads
    double re_[row_tiles][4] = {}, im_[row_tiles][4] = {};
    double logarithms_ = 0.0, charge_ = 0.0; ///< of the column, in lanes that read a_0

    __device__ __forceinline__ void look_up(int begin, int end, bool coarse) {
        const int sets = task_.far.sets;
        for (int i = lane_; i < (end - begin) * tile_columns; i += 32) {
            const int c = i % tile_columns;
            const auto cell =
                sender_of(task_.far.tree, columns_.cell[c], at_.senders[begin + i / tile_columns], coarse);
            columns_.from[i / tile_columns][c] = cell == TreeView::none ? cell : sets * cell + c % sets;
        }
    }

    /// What one sender of each column gives.
    __device__ __forceinline__ void add(const PlaneSender& sender, std::int32_t from) {
        const int steps = (sender.terms + 3) / 4, tiles = min(row_tiles, sender.terms / 16 + 1);
        const PlaneNumber* const a =
            task_.far.multipole(from == TreeView::none ? 0 : from) + lane_ % 4;
        const PlaneNumber* const in = at_.in + sender.distance * at_.columns + lane_ % 4;
        const double there = from == TreeView::none ? 0.0 : 1.0;
        double re[row_tiles][4] = {}, im[row_tiles][4] = {};
#pragma unroll 4
        for (int step = 0; step < steps; ++step) {
            const auto value = read(a + 4 * step);
            const auto power = read(in + 4 * step);
            if (step == 0) {
                logarithms_ = fma(there * value.re, sender.log_distance, logarithms_);
                charge_ = fma(there, value.re, charge_);
            }
            const PlaneNumber x = PlaneNumber{there * power.re, there * power.im} * value;
#pragma unroll
            for (int tile = 0; tile < row_tiles; ++tile) {
                if (tile >= tiles) break;
                const auto piece = *reinterpret_cast<const double2*>(
                    matrix_ + (step * at_.row_tiles + tile) * matrix_piece + 2 * lane_);
                multiply(re[tile], piece, x.re);
                multiply(im[tile], piece, x.im);
            }
        }
        const PlaneNumber* const out = at_.out + sender.distance * at_.rows + lane_ / 4;
#pragma unroll
        for (int tile = 0; tile < row_tiles; ++tile) {
            if (tile >= tiles) break;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const auto factor = read(out + 16 * tile + 8 * half);
#pragma unroll
                for (int i = 2 * half; i < 2 * half + 2; ++i) {
                    re_[tile][i] = fma(factor.re, re[tile][i], fma(-factor.im, im[tile][i], re_[tile][i]));
                    im_[tile][i] = fma(factor.re, im[tile][i], fma(factor.im, re[tile][i], im_[tile][i]));
                }
            }
        }
    }

public:
    __device__ __forceinline__ AcrossWorker(const AcrossTask& task, const double* matrix, Columns& columns)
        : task_(task), at_(task.far.operators), matrix_(matrix), columns_(columns) {}

    __device__ __forceinline__ void run(int tile) {
        const auto run = run_of(task_.runs, tile);
        const int sets = task_.far.sets;
        if (lane_ < tile_columns) {
            const int i = (tile - run.first_tile) * (tile_columns / sets) + lane_ / sets;
            columns_.cell[lane_] = i < run.cells ? task_.by_octant[run.first + i] : TreeView::none;
        }
        __syncwarp();
        const int end = at_.first_sender[run.group + 1];
        for (int begin = at_.first_sender[run.group]; begin < end; begin += senders_together) {
            const int stop = min(end, begin + senders_together);
            look_up(begin, stop, run.group == plane_coarse_group);
            __syncwarp();
            for (int s = begin; s < stop; ++s) {
                const auto from = columns_.from[s - begin][column_];
                if (__any_sync(~0U, from != TreeView::none ? 1 : 0) == 0) continue;
                add(at_.senders[s], from);
            }
            __syncwarp();
        }
        store(log(task_.far.tree.width_of(run.level)));
    }

private:
    /// Columns of a lane's products: 2·(lane mod 4), and the next.
    __device__ __forceinline__ void store(double log_width) {
        const double own = fma(charge_, log_width, logarithms_);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const double constant = __shfl_sync(~0U, own, 4 * (2 * (lane_ % 4) + i));
            if (lane_ / 4 != 0) continue; // row 0 is the constant
            re_[0][i] += constant;
            im_[0][i] = 0.0;
        }
        const int sets = task_.far.sets;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int c = 2 * (lane_ % 4) + i % 2;
            const auto cell = columns_.cell[c];
            if (cell == TreeView::none) continue;
            PlaneNumber* const to = task_.far.local(static_cast<std::int64_t>(sets) * cell + c % sets);
#pragma unroll
            for (int tile = 0; tile < row_tiles; ++tile) {
                const int row = 16 * tile + 8 * (i / 2) + lane_ / 4;
                if (row < at_.local_size) to[row] = {re_[tile][i], im_[tile][i]};
            }
        }
    }
};

template <int row_tiles>
__global__ void __launch_bounds__(32 * across_warps) across_kernel(const AcrossTask task) {
    extern __shared__ double across_matrix[];
    __shared__ Columns columns[across_warps];
    const auto& at = task.far.operators;
    const int numbers = at.column_steps * at.row_tiles * matrix_piece;
    for (int i = static_cast<int>(threadIdx.y * 32 + threadIdx.x); i < numbers; i += 32 * across_warps)
        across_matrix[i] = at.matrix[i];
    __syncthreads();
    const int tile = static_cast<int>(blockIdx.x) * across_warps + static_cast<int>(threadIdx.y);
    if (tile < task.runs.tiles)
        AcrossWorker<row_tiles>(task, across_matrix, columns[threadIdx.y]).run(task.runs.tiles - 1 - tile);
}

template <int row_tiles>
void launch_across(const AcrossTask& task, cudaStream_t stream) {
    const auto& at = task.far.operators;
    const auto bytes = static_cast<std::size_t>(at.column_steps * at.row_tiles * matrix_piece) * sizeof(double);
    const auto blocks = static_cast<unsigned>((task.runs.tiles + across_warps - 1) / across_warps);
    across_kernel<row_tiles><<<blocks, dim3(32, across_warps), bytes, stream>>>(task);
    check_launch("translating expansions");
}

} // namespace

void translate_plane_expansions(const PlaneFarView& far, const std::int32_t* by_octant, const PlaneRuns& runs,
                                cudaStream_t stream) {
    if (runs.tiles == 0) return;
    const AcrossTask task{far, by_octant, runs};
    switch (far.operators.row_tiles) {
    case 1:
        return launch_across<1>(task, stream);
    case 2:
        return launch_across<2>(task, stream);
    case 3:
        return launch_across<3>(task, stream);
    default:
        throw InternalError("an order in the plane that no kernel has");
    }
}

} // namespace farfield::cuda
