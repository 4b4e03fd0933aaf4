// M2M, M2L and L2L of low orders in the plane. A warp has a tile of columns, the expansions of targets of one
// level and group, and multiplies what each sender has by one real matrix on tensor cores. Matrices come
// through the cache of the multiprocessor, whose warps go through the same senders.
#include "sums/fmm/plane/cuda/plane_whole.cuh"

#include "sums/fmm/plane/cuda/plane_chain.cuh"
#include "sums/fmm/plane/cuda/plane_senders.cuh"

#include "backend/cuda/check.h"

#include <farfield/error.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace farfield::cuda {
namespace {

constexpr int whole_warps = 4;

/// @param steps  of a matrix
template <PlanePass pass, int steps, int columns = tile_columns>
class WholeWorker : public ColumnTile<pass, columns> {
    using Tile = ColumnTile<pass, columns>;
    using Tile::at_, Tile::column_, Tile::columns_, Tile::far_, Tile::lane_, Tile::run_, Tile::there_;
    using Tile::each_lookup, Tile::take_next;
    static constexpr int fours = (steps + 1) / 2, tiles = PlaneWhole::tiles;
    static constexpr bool from_locals = pass == PlanePass::down;
    const int numbers_ = 2 * (from_locals ? far_.local_size : far_.columns); ///< of an expansion
    const double* const expansions_ =
        reinterpret_cast<const double*>(from_locals ? far_.locals : far_.multipoles);
    const double* const matrices_ = at_.whole + 2 * lane_;
    static constexpr int eights = columns / tile_columns;
    double sum_[eights][tiles][4] = {};

    /// What the lane multiplies by, of one sender of its columns.
    struct Numbers {
        double of[eights][2 * fours] = {};
    };

    __device__ __forceinline__ Numbers numbers_of(int s) const {
        Numbers out;
#pragma unroll
        for (int e = 0; e < eights; ++e) {
            const auto from = columns_.from[columns_.row[s]][tile_columns * e + column_];
            const double* const a = expansions_ + static_cast<std::int64_t>(from) * numbers_;
#pragma unroll
            for (int four = 0; four < fours; ++four) {
                const bool alone = steps % 2 != 0 && four + 1 == fours; // a step of two numbers
                const int first = 8 * four + (alone ? 1 : 2) * (lane_ % 4);
                // a local expansion ends where its order does
                if (from_locals && four + 1 == fours && first >= numbers_) continue;
                if (alone) {
                    out.of[e][2 * four] = a[first];
                } else {
                    const auto two =
                        *reinterpret_cast<const double2*>(a + first); // others may have written it
                    out.of[e][2 * four] = two.x;
                    out.of[e][2 * four + 1] = two.y;
                }
            }
        }
        return out;
    }

    template <int used_steps, int used_tiles>
    __device__ __forceinline__ void multiply_all(const double* matrix, const Numbers& numbers) {
#pragma unroll
        for (int step = 0; step < used_steps; ++step)
#pragma unroll
            for (int tile = 0; tile < used_tiles; ++tile) {
                const auto piece = __ldg(
                    reinterpret_cast<const double2*>(matrix + (step * tiles + tile) * PlaneOperator::piece));
#pragma unroll
                for (int e = 0; e < eights; ++e) multiply(sum_[e][tile], piece, numbers.of[e][step]);
            }
    }

    __device__ __forceinline__ void add(int s, const Numbers& numbers) {
        const auto& sender = columns_.sender[s];
        const double* const matrix = matrices_ + sender.diagonal * (steps * tiles * PlaneOperator::piece);
        const int terms = pass == PlanePass::across ? sender.terms : far_.columns;
        if (terms <= PlaneWhole::terms_of_tile)
            multiply_all<PlaneWhole::short_steps, 1>(matrix, numbers);
        else if (terms <= PlaneWhole::short_terms)
            multiply_all<PlaneWhole::short_steps, tiles>(matrix, numbers);
        else
            multiply_all<steps, tiles>(matrix, numbers);
    }

    /// Rows 0 and 1 of M2L are C and Σ q.
    __device__ __forceinline__ void add_logarithms(double (&first)[4], double log_width) const {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const double charge = __shfl_sync(~0U, first[i], 4 + lane_ % 4);
            if (lane_ / 4 == 0) first[i] = fma(log_width, charge, first[i]);
            if (lane_ / 4 == 1) first[i] = 0.0;
        }
    }

    __device__ __forceinline__ void store(const double (&sum)[tiles][4], int first_column) const {
        const int rows = 2 * (pass == PlanePass::up ? far_.columns : far_.local_size);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int c = first_column + 2 * (lane_ % 4) + i % 2;
            const auto cell = columns_.cell[c];
            if (cell == TreeView::none) continue;
            const std::int64_t number = static_cast<std::int64_t>(far_.sets) * cell + c % far_.sets;
            auto* const to = reinterpret_cast<double*>(pass == PlanePass::up ? far_.multipole(number)
                                                                             : far_.local(number));
#pragma unroll
            for (int tile = 0; tile < tiles; ++tile) {
                const int row = 16 * tile + 8 * (i / 2) + lane_ / 4;
                if (row >= rows) continue;
                if constexpr (pass == PlanePass::down)
                    to[row] += sum[tile][i];
                else
                    to[row] = sum[tile][i];
            }
        }
    }

public:
    using Tile::Tile;

    __device__ __forceinline__ void run() {
        each_lookup([&] {
            while (there_ != 0) { // two at a time: both have their numbers on the way
                const int s = take_next();
                const Numbers numbers = numbers_of(s);
                const int following = there_ != 0 ? take_next() : -1;
                Numbers coming;
                if (following >= 0) coming = numbers_of(following);
                add(s, numbers);
                if (following >= 0) add(following, coming);
            }
        });
        const double log_width = pass == PlanePass::across ? log(far_.tree.width_of(run_.level)) : 0.0;
#pragma unroll
        for (int e = 0; e < eights; ++e) {
            if constexpr (pass == PlanePass::across) add_logarithms(sum_[e][0], log_width);
            store(sum_[e], tile_columns * e);
        }
    }
};

template <PlanePass pass, int steps>
__global__ void __launch_bounds__(32 * whole_warps) whole_kernel(const PlaneShiftTask task) {
    constexpr int columns = pass == PlanePass::across ? wide_tile_columns : tile_columns;
    __shared__ Columns<columns> own[whole_warps];
    const int number = static_cast<int>(blockIdx.x) * whole_warps + static_cast<int>(threadIdx.y);
    const int tile = task.runs.tiles - 1 - number; // deepest levels first
    if (tile < 0) return;
    WholeWorker<pass, steps, columns> worker(task.far, task.at, task.cells, own[threadIdx.y]);
    worker.begin(run_of(task.runs.run, task.runs.count, tile), tile);
    worker.run();
}

/// @param steps  of M2M and M2L
template <int steps, int down_steps>
__global__ void __launch_bounds__(32 * whole_warps)
    whole_chain_kernel(const __grid_constant__ PlaneChainTask task) {
    __shared__ Columns<> columns[whole_warps];
    each_stage(task, [&](auto pass, const PlaneStage& stage, const PlaneOperatorView& at,
                         const std::int32_t* cells) {
        each_tile(task, stage, [&](const PlaneRun& run, int tile) {
            WholeWorker<pass.value, pass.value == PlanePass::down ? down_steps : steps> worker(
                task.far, at, cells, columns[threadIdx.y]);
            worker.begin(run, tile);
            worker.run();
        });
    });
}

/// Calls body of the steps of M2M and M2L, and of those of L2L: std::integral_constant.
template <class Body>
void with_steps(int order, const Body& body) {
    const auto call = [&]<int of_order>() {
        if (of_order != order) return false;
        body(std::integral_constant<int, PlaneWhole::steps_of(of_order + 1)>{},
             std::integral_constant<int, PlaneWhole::steps_of(of_order + 2)>{});
        return true;
    };
    const auto any = [&]<int... above>(std::integer_sequence<int, above...>) {
        return (call.template operator()<PlaneWhole::least_order + above>() || ...);
    };
    if (!any(std::make_integer_sequence<int, PlaneWhole::most_order - PlaneWhole::least_order + 1>{}))
        throw InternalError("an order in the plane that no kernel has");
}

} // namespace

void shift_whole_expansions(const PlaneShiftTask& task, PlanePass pass, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((task.runs.tiles + whole_warps - 1) / whole_warps);
    const dim3 threads(32, whole_warps);
    with_steps(task.far.order, [&](auto steps, auto down_steps) {
        switch (pass) {
        case PlanePass::up:
            whole_kernel<PlanePass::up, steps.value><<<blocks, threads, 0, stream>>>(task);
            break;
        case PlanePass::across:
            whole_kernel<PlanePass::across, steps.value><<<blocks, threads, 0, stream>>>(task);
            break;
        case PlanePass::down:
            whole_kernel<PlanePass::down, down_steps.value><<<blocks, threads, 0, stream>>>(task);
            break;
        }
    });
    check_launch("shifting expansions");
}

void run_whole_chain(const PlaneChainTask& task, cudaStream_t stream) {
    with_steps(task.far.order, [&](auto steps, auto down_steps) {
        launch_plane_chain(reinterpret_cast<const void*>(&whole_chain_kernel<steps.value, down_steps.value>),
                           whole_warps, 0, task, stream);
    });
}

} // namespace farfield::cuda
