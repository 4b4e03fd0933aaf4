// M2M, M2L and L2L in the plane on tensor cores. A warp has eight columns, the expansions of targets of one
// level and group, and goes through their senders: each column is multiplied by a diagonal, all of them by
// the real matrix, and the rows by another diagonal. The next sender's numbers are on their way meanwhile.
#include "sums/fmm/plane/cuda/complex_number.cuh"
#include "sums/fmm/plane/cuda/plane_chain.cuh"
#include "sums/fmm/plane/cuda/plane_far.cuh"
#include "sums/fmm/plane/cuda/plane_senders.cuh"
#include "sums/fmm/plane/cuda/plane_whole.cuh"

#include "backend/cuda/check.h"

#include <farfield/error.h>

#include <cuda_pipeline.h>

#include <type_traits>

namespace farfield::cuda {
namespace {

constexpr int shift_warps = 4;

template <PlanePass pass, int row_tiles, int most_steps>
class ShiftWorker : public ColumnTile<pass> {
    using Tile = ColumnTile<pass>;
    using Tile::at_, Tile::column_, Tile::columns_, Tile::far_, Tile::lane_, Tile::run_, Tile::there_;
    using Tile::each_lookup, Tile::take_next;
    const double* matrix_; ///< in shared memory
    double re_[row_tiles][4] = {}, im_[row_tiles][4] = {};
    double constant_ = 0.0, charge_ = 0.0; ///< of the column, in lanes that read its first number

    /// Numbers of one sender of the lane's column.
    struct Numbers {
        PlaneNumber of[most_steps];
        double constant = 0.0; ///< L2L
    };

    __device__ __forceinline__ Numbers numbers_of(int s) const {
        Numbers out;
        const auto from = columns_.from[columns_.row[s]][column_];
        const int steps = (columns_.sender[s].terms + 3) / 4;
        const bool there = from != TreeView::none;
        const PlaneNumber* const a =
            (pass == PlanePass::down ? far_.local(there ? from : 0) + 1 : far_.multipole(there ? from : 0)) +
            lane_ % 4;
#pragma unroll
        for (int step = 0; step < most_steps; ++step) {
            out.of[step] = {};
            // a local expansion ends where its order does
            const bool inside = pass != PlanePass::down || 4 * step + lane_ % 4 <= far_.order;
            if (step < steps && there && inside) out.of[step] = read_again(a + 4 * step);
        }
        if constexpr (pass == PlanePass::down)
            if (there && lane_ % 4 == 0) out.constant = a[-1].re;
        return out;
    }

    __device__ __forceinline__ void add(int s, const Numbers& numbers) {
        const auto& sender = columns_.sender[s];
        const int steps = (sender.terms + 3) / 4, tiles = min(row_tiles, sender.terms / 16 + 1);
        const PlaneNumber* const in = at_.in + sender.diagonal * (4 * at_.column_steps) + lane_ % 4;
        const PlaneNumber* const out = at_.out + sender.diagonal * (16 * at_.row_tiles) + lane_ / 4;
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
                    matrix_ + (step * at_.row_tiles + tile) * PlaneOperator::piece + 2 * lane_);
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
        const auto& far = far_;
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
    __device__ __forceinline__ ShiftWorker(const PlaneFarView& far, const PlaneOperatorView& at,
                                           const std::int32_t* cells, const double* matrix,
                                           Columns<>& columns)
        : Tile(far, at, cells, columns), matrix_(matrix) {}

    __device__ __forceinline__ void run() {
        each_lookup([&] {
            if (there_ == 0) return;
            int s = take_next();
            Numbers numbers = numbers_of(s);
            while (there_ != 0) {
                const int following = take_next();
                const Numbers coming = numbers_of(following);
                add(s, numbers);
                numbers = coming;
                s = following;
            }
            add(s, numbers);
        });
        if constexpr (pass != PlanePass::up)
            add_constants(pass == PlanePass::across ? log(far_.tree.width_of(run_.level)) : 0.0);
        store();
    }
};

FF_HD int matrix_numbers(const PlaneOperatorView& at) {
    return at.column_steps * at.row_tiles * PlaneOperator::piece;
}

/// Begins to bring an operator's matrix into shared memory.
__device__ __forceinline__ void bring(const PlaneOperatorView& at, double* to) {
    for (int i = 2 * static_cast<int>(threadIdx.y * 32 + threadIdx.x); i < matrix_numbers(at);
         i += 64 * shift_warps)
        __pipeline_memcpy_async(to + i, at.matrix + i, 2 * sizeof(double));
    __pipeline_commit();
}

template <PlanePass pass, int row_tiles, int most_steps>
__global__ void __launch_bounds__(32 * shift_warps) shift_kernel(const PlaneShiftTask task) {
    extern __shared__ __align__(16) double shift_matrix[];
    __shared__ Columns<> columns[shift_warps];
    bring(task.at, shift_matrix);
    const int number = static_cast<int>(blockIdx.x) * shift_warps + static_cast<int>(threadIdx.y);
    const int tile = task.runs.tiles - 1 - number; // deepest levels first
    ShiftWorker<pass, row_tiles, most_steps> worker(task.far, task.at, task.cells, shift_matrix,
                                                    columns[threadIdx.y]);
    if (tile >= 0) worker.begin(run_of(task.runs.run, task.runs.count, tile), tile);
    __pipeline_wait_prior(0);
    __syncthreads();
    if (tile >= 0) worker.run();
}

template <int row_tiles, int most_steps>
__global__ void __launch_bounds__(32 * shift_warps)
    chain_kernel(const __grid_constant__ PlaneChainTask task) {
    extern __shared__ __align__(16) double shift_matrix[];
    __shared__ Columns<> columns[shift_warps];
    const int numbers = matrix_numbers(task.up);
    bring(task.up, shift_matrix);
    bring(task.across, shift_matrix + numbers);
    bring(task.down, shift_matrix + 2 * numbers);
    __pipeline_wait_prior(0);
    __syncthreads();
    each_stage(task, [&](auto pass, const PlaneStage& stage, const PlaneOperatorView& at,
                         const std::int32_t* cells) {
        const double* const matrix = shift_matrix + static_cast<int>(pass.value) * numbers;
        each_tile(task, stage, [&](const PlaneRun& run, int tile) {
            ShiftWorker<pass.value, row_tiles, most_steps> worker(task.far, at, cells, matrix,
                                                                  columns[threadIdx.y]);
            worker.begin(run, tile);
            worker.run();
        });
    });
}

std::size_t matrix_bytes(const PlaneOperatorView& at) {
    return static_cast<std::size_t>(matrix_numbers(at)) * sizeof(double);
}

template <int row_tiles, int most_steps>
void launch_shift(const PlaneShiftTask& task, PlanePass pass, cudaStream_t stream) {
    const auto bytes = matrix_bytes(task.at);
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

/// Calls body of the sizes that an operator has: std::integral_constant of row tiles and of steps.
template <class Body>
void with_sizes(const PlaneOperatorView& at, const Body& body) {
    const int tiles = at.row_tiles, steps = at.column_steps;
    const auto call = [&]<int row_tiles, int most_steps>() {
        body(std::integral_constant<int, row_tiles>{}, std::integral_constant<int, most_steps>{});
    };
    if (tiles == 1 && steps <= 3) return call.template operator()<1, 3>();
    if (tiles == 1) return call.template operator()<1, 4>();
    if (tiles == 2 && steps <= 6) return call.template operator()<2, 6>();
    if (tiles == 2) return call.template operator()<2, 8>();
    if (tiles == 3 && steps <= 12) return call.template operator()<3, 12>();
    throw InternalError("an order in the plane that no kernel has");
}

} // namespace

void shift_plane_expansions(const PlaneShiftTask& task, PlanePass pass, cudaStream_t stream) {
    if (task.runs.tiles == 0) return;
    if (task.at.whole != nullptr) return shift_whole_expansions(task, pass, stream);
    with_sizes(task.at, [&](auto row_tiles, auto most_steps) {
        launch_shift<row_tiles.value, most_steps.value>(task, pass, stream);
    });
}

void run_plane_chain(const PlaneChainTask& task, cudaStream_t stream) {
    if (task.stages == 0) return;
    if (task.across.whole != nullptr) return run_whole_chain(task, stream);
    with_sizes(task.across, [&](auto row_tiles, auto most_steps) {
        launch_plane_chain(reinterpret_cast<const void*>(&chain_kernel<row_tiles.value, most_steps.value>),
                           shift_warps, 3 * matrix_bytes(task.up), task, stream);
    });
}

} // namespace farfield::cuda
