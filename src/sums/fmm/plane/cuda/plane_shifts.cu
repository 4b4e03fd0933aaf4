// M2M, M2L and L2L in the plane on tensor cores. A warp has eight columns, the expansions of targets of one
// level and group, and goes through their senders: each column is multiplied by a diagonal, all of them by
// the real matrix, and the rows by another diagonal. The next sender's numbers are on their way meanwhile.
#include "sums/fmm/plane/cuda/complex_number.cuh"
#include "sums/fmm/plane/cuda/plane_far.cuh"

#include "backend/cuda/check.h"

#include <farfield/error.h>

#include <cuda_pipeline.h>

namespace farfield::cuda {
namespace {

constexpr int shift_warps = 4;
constexpr int tile_columns = 8;
constexpr int senders_together = 32; ///< that are looked up before they are used

/// A warp's own shared memory.
struct Columns {
    std::int32_t cell[tile_columns];                   ///< of the target, or none
    std::int32_t from[senders_together][tile_columns]; ///< numbers of expansions, or none
    PlaneSender sender[senders_together];
};

__device__ __forceinline__ void multiply(double (&c)[4], const double2& a, double b) {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a.x), "d"(a.y), "d"(b));
}

/// The run that a tile is of; asked by a warp.
__device__ __forceinline__ PlaneRun run_of(const PlaneRuns& runs, int tile) {
    int before = 0;
    for (int base = 0; base < runs.count; base += 32) {
        const int i = base + static_cast<int>(threadIdx.x);
        before += __popc(__ballot_sync(~0U, i < runs.count && runs.run[i].first_tile <= tile ? 1 : 0));
    }
    return runs.run[before - 1];
}

template <PlanePass pass>
__device__ __forceinline__ std::int32_t sender_of(const TreeView& tree, std::int32_t target,
                                                  const PlaneSender& sender, bool coarse) {
    if (target == TreeView::none) return TreeView::none;
    if constexpr (pass == PlanePass::down) return tree.parents[target];
    std::int32_t cell = TreeView::none;
    if (pass == PlanePass::up) {
        cell = tree.child(target, sender.child);
    } else if (coarse) {
        const auto& place = tree.places[target];
        cell =
            tree.coarse_cell(place.index[0] - (sender.place - 128), place.index[1] - (sender.child - 128), 0);
    } else {
        const auto near = tree.neighbour(tree.parents[target], sender.place);
        if (near != TreeView::none) cell = tree.child(near, sender.child);
    }
    if (tree.self || cell == TreeView::none) return cell; // all cells have sources
    return tree.sources[cell].size() > 0 ? cell : TreeView::none;
}

template <PlanePass pass, int row_tiles, int most_steps>
class ShiftWorker {
    const PlaneShiftTask& task_;
    const double* matrix_; ///< in shared memory
    Columns& columns_;
    PlaneRun run_{};
    const int lane_ = static_cast<int>(threadIdx.x);
    const int column_ = lane_ / 4; ///< of the numbers that it reads
    double re_[row_tiles][4] = {}, im_[row_tiles][4] = {};
    double constant_ = 0.0, charge_ = 0.0; ///< of the column, in lanes that read its first number

    /// Numbers of one sender of the lane's column.
    struct Numbers {
        PlaneNumber of[most_steps];
        double constant = 0.0; ///< L2L
    };

    __device__ __forceinline__ void look_up_from(int begin) {
        const int end = min(begin + senders_together, task_.at.first_sender[run_.group + 1]);
        const bool coarse = run_.group == plane_coarse_group;
        const int sets = task_.far.sets;
        if (begin + lane_ < end) columns_.sender[lane_] = task_.at.senders[begin + lane_];
        __syncwarp();
        for (int i = lane_; i < (end - begin) * tile_columns; i += 32) {
            const int c = i % tile_columns;
            const auto cell =
                sender_of<pass>(task_.far.tree, columns_.cell[c], columns_.sender[i / tile_columns], coarse);
            columns_.from[i / tile_columns][c] = cell == TreeView::none ? cell : sets * cell + c % sets;
        }
        __syncwarp();
    }

    /// The first sender from here on that some column has.
    __device__ __forceinline__ int next(int s, int count) const {
        while (s < count && __any_sync(~0U, columns_.from[s][column_] != TreeView::none ? 1 : 0) == 0) ++s;
        return s;
    }

    __device__ __forceinline__ Numbers numbers_of(int s) const {
        Numbers out;
        const auto from = columns_.from[s][column_];
        const int steps = (columns_.sender[s].terms + 3) / 4;
        const bool there = from != TreeView::none;
        const PlaneNumber* const a = (pass == PlanePass::down ? task_.far.local(there ? from : 0) + 1
                                                              : task_.far.multipole(there ? from : 0)) +
                                     lane_ % 4;
#pragma unroll
        for (int step = 0; step < most_steps; ++step) {
            out.of[step] = {};
            // a local expansion ends where its order does
            const bool inside = pass != PlanePass::down || 4 * step + lane_ % 4 <= task_.far.order;
            if (step < steps && there && inside) out.of[step] = read(a + 4 * step);
        }
        if constexpr (pass == PlanePass::down)
            if (there && lane_ % 4 == 0) out.constant = a[-1].re;
        return out;
    }

    __device__ __forceinline__ void add(int s, const Numbers& numbers) {
        const auto& sender = columns_.sender[s];
        const int steps = (sender.terms + 3) / 4, tiles = min(row_tiles, sender.terms / 16 + 1);
        const PlaneNumber* const in = task_.at.in + sender.diagonal * (4 * task_.at.column_steps) + lane_ % 4;
        const PlaneNumber* const out = task_.at.out + sender.diagonal * (16 * task_.at.row_tiles) + lane_ / 4;
        if constexpr (pass == PlanePass::across) {
            constant_ = fma(numbers.of[0].re, sender.log_distance, constant_);
            charge_ += numbers.of[0].re;
        }
        if constexpr (pass == PlanePass::down) constant_ += numbers.constant;
        double re[row_tiles][4] = {}, im[row_tiles][4] = {};
#pragma unroll
        for (int step = 0; step < most_steps; ++step) {
            if (step >= steps) break;
            const auto x = read(in + 4 * step) * numbers.of[step];
#pragma unroll
            for (int tile = 0; tile < row_tiles; ++tile) {
                if (tile >= tiles) break;
                const auto piece = *reinterpret_cast<const double2*>(
                    matrix_ + (step * task_.at.row_tiles + tile) * PlaneOperator::piece + 2 * lane_);
                multiply(re[tile], piece, x.re);
                multiply(im[tile], piece, x.im);
            }
        }
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

    /// M2M: leaves keep what their points made.
    __device__ __forceinline__ bool takes(std::int32_t cell) const {
        const auto& tree = task_.far.tree;
        return pass != PlanePass::up || (!tree.is_leaf(cell) && (tree.self || tree.sources[cell].size() > 0));
    }

    __device__ __forceinline__ void find_targets(int tile, const PlaneRun& run) {
        if (lane_ < tile_columns) {
            const int sets = task_.far.sets;
            const int i = (tile - run.first_tile) * (tile_columns / sets) + lane_ / sets;
            std::int32_t cell = TreeView::none;
            if (i < run.cells) cell = task_.cells != nullptr ? task_.cells[run.first + i] : run.first + i;
            columns_.cell[lane_] = cell != TreeView::none && takes(cell) ? cell : TreeView::none;
        }
        __syncwarp();
    }

    /// The constants of the columns that a lane's products are of: 2·(lane mod 4), and the next.
    __device__ __forceinline__ void add_constants(double log_width) {
        const double own = pass == PlanePass::across ? fma(charge_, log_width, constant_) : constant_;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const double constant = __shfl_sync(~0U, own, 4 * (2 * (lane_ % 4) + i));
            if (lane_ / 4 != 0) continue; // row 0 is the constant
            re_[0][i] += constant;
            im_[0][i] = 0.0;
        }
    }

    __device__ __forceinline__ void store() {
        const auto& far = task_.far;
        const int size = pass == PlanePass::up ? far.columns : far.local_size;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int c = 2 * (lane_ % 4) + i % 2;
            const auto cell = columns_.cell[c];
            if (cell == TreeView::none) continue;
            const std::int64_t number = static_cast<std::int64_t>(far.sets) * cell + c % far.sets;
            PlaneNumber* const to = pass == PlanePass::up ? far.multipole(number) : far.local(number);
#pragma unroll
            for (int tile = 0; tile < row_tiles; ++tile) {
                const int row = 16 * tile + 8 * (i / 2) + lane_ / 4;
                if (row >= size) continue;
                PlaneNumber value{re_[tile][i], im_[tile][i]};
                if constexpr (pass == PlanePass::down) {
                    value.re += to[row].re;
                    value.im += to[row].im;
                }
                to[row] = value;
            }
        }
    }

public:
    __device__ __forceinline__ ShiftWorker(const PlaneShiftTask& task, const double* matrix, Columns& columns)
        : task_(task), matrix_(matrix), columns_(columns) {}

    /// Finds targets and their first senders; the matrix need not be there yet.
    __device__ __forceinline__ void begin(int tile) {
        run_ = run_of(task_.runs, tile);
        find_targets(tile, run_);
        look_up_from(task_.at.first_sender[run_.group]);
    }

    __device__ __forceinline__ void run() {
        const int first = task_.at.first_sender[run_.group], end = task_.at.first_sender[run_.group + 1];
        for (int begin = first; begin < end; begin += senders_together) {
            const int count = min(end - begin, senders_together);
            if (begin > first) look_up_from(begin);
            int s = next(0, count);
            Numbers numbers;
            if (s < count) numbers = numbers_of(s);
            while (s < count) {
                const int following = next(s + 1, count);
                Numbers coming;
                if (following < count) coming = numbers_of(following);
                add(s, numbers);
                numbers = coming;
                s = following;
            }
            __syncwarp();
        }
        if constexpr (pass != PlanePass::up)
            add_constants(pass == PlanePass::across ? log(task_.far.tree.width_of(run_.level)) : 0.0);
        store();
    }
};

template <PlanePass pass, int row_tiles, int most_steps>
__global__ void __launch_bounds__(32 * shift_warps) shift_kernel(const PlaneShiftTask task) {
    extern __shared__ __align__(16) double shift_matrix[];
    __shared__ Columns columns[shift_warps];
    const int numbers = task.at.column_steps * task.at.row_tiles * PlaneOperator::piece;
    for (int i = 2 * static_cast<int>(threadIdx.y * 32 + threadIdx.x); i < numbers; i += 64 * shift_warps)
        __pipeline_memcpy_async(shift_matrix + i, task.at.matrix + i, 2 * sizeof(double));
    __pipeline_commit();
    const int tile = static_cast<int>(blockIdx.x) * shift_warps + static_cast<int>(threadIdx.y);
    const bool there = tile < task.runs.tiles;
    ShiftWorker<pass, row_tiles, most_steps> worker(task, shift_matrix, columns[threadIdx.y]);
    if (there) worker.begin(task.runs.tiles - 1 - tile); // deepest levels first
    __pipeline_wait_prior(0);
    __syncthreads();
    if (there) worker.run();
}

template <int row_tiles, int most_steps>
void launch_shift(const PlaneShiftTask& task, PlanePass pass, cudaStream_t stream) {
    const auto bytes =
        static_cast<std::size_t>(task.at.column_steps * task.at.row_tiles * PlaneOperator::piece) *
        sizeof(double);
    const auto blocks = static_cast<unsigned>((task.runs.tiles + shift_warps - 1) / shift_warps);
    const dim3 threads(32, shift_warps);
    switch (pass) {
    case PlanePass::up:
        shift_kernel<PlanePass::up, row_tiles, most_steps><<<blocks, threads, bytes, stream>>>(task);
        break;
    case PlanePass::across:
        shift_kernel<PlanePass::across, row_tiles, most_steps><<<blocks, threads, bytes, stream>>>(task);
        break;
    case PlanePass::down:
        shift_kernel<PlanePass::down, row_tiles, most_steps><<<blocks, threads, bytes, stream>>>(task);
        break;
    }
    check_launch("shifting expansions");
}

} // namespace

void shift_plane_expansions(const PlaneShiftTask& task, PlanePass pass, cudaStream_t stream) {
    if (task.runs.tiles == 0) return;
    const int tiles = task.at.row_tiles, steps = task.at.column_steps;
    if (tiles == 1 && steps <= 3) return launch_shift<1, 3>(task, pass, stream);
    if (tiles == 1) return launch_shift<1, 4>(task, pass, stream);
    if (tiles == 2 && steps <= 6) return launch_shift<2, 6>(task, pass, stream);
    if (tiles == 2) return launch_shift<2, 8>(task, pass, stream);
    if (tiles == 3 && steps <= 12) return launch_shift<3, 12>(task, pass, stream);
    throw InternalError("an order in the plane that no kernel has");
}

} // namespace farfield::cuda
