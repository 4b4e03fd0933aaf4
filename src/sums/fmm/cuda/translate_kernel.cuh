// The kernel of the translations: a product of matrices in register tiles, whose second factor is gathered.
#pragma once

#include "backend/cuda/check.h"
#include "sums/fmm/cuda/translate.cuh"

namespace farfield::cuda {

constexpr int translate_warps = 4; ///< of a thread block
constexpr int translate_threads = 32 * translate_warps;

template <class Real>
struct alignas(16) Pack {
    static constexpr int width = 16 / static_cast<int>(sizeof(Real));
    Real value[width];
};

/// The sender's cell for a target, or none.
template <Pass pass>
__device__ __forceinline__ std::int32_t sender_of(const TreeView& tree, std::int32_t target,
                                                  std::int32_t parent, int group, std::int32_t place) {
    std::int32_t cell = TreeView::none;
    if constexpr (pass == Pass::up) {
        if (target != TreeView::none) cell = tree.child(target, place);
    } else if constexpr (pass == Pass::down) {
        return parent;
    } else if (target != TreeView::none) {
        if (group == coarse_group) {
            const auto& at = tree.places[target];
            cell = tree.coarse_cell(at.index[0] + place % 256 - 128, at.index[1] + place / 256 % 256 - 128,
                                    at.index[2] + place / 65536 - 128);
        } else {
            const auto near = tree.neighbour(parent, place >> 3);
            if (near != TreeView::none) cell = tree.child(near, place & 7);
        }
    }
    if (cell != TreeView::none && !tree.self && tree.sources[cell].size() == 0) return TreeView::none;
    return cell;
}

template <class Real>
struct TranslateStage {
    static constexpr int depth = 4 * Pack<Real>::width; ///< columns at a time: four packs of each sender
    alignas(16) Real matrix[2][depth][tile_rows];
    alignas(16) Real values[2][depth][tile_targets + 4];
};

/// A thread block: `row_warps` times 32 rows of the expansions of a tile of targets; the other warps share
/// the senders. Each lane has 8 rows of 4 targets.
template <class Real, Pass pass, int row_warps>
__global__ void __launch_bounds__(translate_threads, sizeof(Real) == sizeof(float) ? 4 : 3)
    translate_kernel(const TranslateTask<Real> task) {
    constexpr int V = Pack<Real>::width;
    constexpr int depth = TranslateStage<Real>::depth;
    constexpr int sender_warps = translate_warps / row_warps;
    constexpr int own_targets = 4; // that a lane loads, and packs of the matrix
    __shared__ TranslateStage<Real> stages[translate_warps];

    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    auto& stage = stages[warp];
    const auto tile = task.tiles[blockIdx.x];
    const int part = warp / row_warps; // of the senders that fall to this thread block
    const int all_parts = sender_warps * task.parts;
    const int first_row = (static_cast<int>(blockIdx.y) * row_warps + warp % row_warps) * tile_rows;
    const int quarter = lane % 4; // which pack of a sender's columns the lane loads
    const int row_lane = lane % 4;
    const int target_lane = lane / 4;

    std::int32_t own[own_targets], parent[own_targets];
#pragma unroll
    for (int u = 0; u < own_targets; ++u) {
        const int at = lane / 4 + 8 * u;
        own[u] = parent[u] = TreeView::none;
        if (at < tile.count) {
            own[u] = task.list != nullptr ? task.list[tile.first + at] : tile.first + at;
            if constexpr (pass != Pass::up) parent[u] = task.tree.parents[own[u]];
        }
    }

    Real sum[8][4] = {};
    const int last_sender = task.first_sender[tile.group + 1];
    int sender = task.first_sender[tile.group] + sender_warps * static_cast<int>(blockIdx.z) + part;
    int mirror = 0;
    // What is loaded next: columns [column, column + depth) of the sender.
    Pack<Real> next_matrix[own_targets], next_values[own_targets];
    std::int32_t source[own_targets];
    Sender now{};
    typename PlainOperators<Real>::Matrix what{};

    // Goes on to a sender that some target has and whose matrix has these rows. False: there is none.
    const auto find = [&] {
        for (; sender < last_sender; sender += all_parts) {
            now = task.senders[sender];
            what = task.table[tile.level * task.table_level + now.matrix];
            if (what.size <= first_row) continue;
            bool any = false;
#pragma unroll
            for (int u = 0; u < own_targets; ++u) {
                source[u] = sender_of<pass>(task.tree, own[u], parent[u], tile.group, now.place);
                any = any || source[u] != TreeView::none;
            }
            if (__any_sync(~0U, any ? 1 : 0) != 0) return true;
        }
        return false;
    };
    const auto load = [&](int column) {
#pragma unroll
        for (int u = 0; u < own_targets; ++u) {
            const int pack = lane + 32 * u;
            const int k = column + pack / (tile_rows / V);
            const int row = first_row + pack % (tile_rows / V) * V;
            next_matrix[u] = {};
            if (k < what.size && row < what.rows)
                next_matrix[u] = *reinterpret_cast<const Pack<Real>*>(
                    task.matrices + what.begin + static_cast<std::int64_t>(k) * what.rows + row);
        }
        const int k = column + quarter * V;
        const auto sign = *reinterpret_cast<const Pack<Real>*>(task.signs + now.mirror * task.stride + k);
#pragma unroll
        for (int u = 0; u < own_targets; ++u) {
            next_values[u] = {};
            if (source[u] == TreeView::none) continue;
            next_values[u] = *reinterpret_cast<const Pack<Real>*>(
                task.from + static_cast<std::int64_t>(source[u]) * task.stride + k);
#pragma unroll
            for (int v = 0; v < V; ++v) next_values[u].value[v] *= sign.value[v];
        }
    };
    const auto keep = [&](int buffer) {
#pragma unroll
        for (int u = 0; u < own_targets; ++u) {
            const int pack = lane + 32 * u;
            *reinterpret_cast<Pack<Real>*>(
                &stage.matrix[buffer][pack / (tile_rows / V)][pack % (tile_rows / V) * V]) = next_matrix[u];
        }
#pragma unroll
        for (int u = 0; u < own_targets; ++u)
#pragma unroll
            for (int v = 0; v < V; ++v)
                stage.values[buffer][quarter * V + v][lane / 4 + 8 * u] = next_values[u].value[v];
    };
    // Sums count in the mirror image of the sender at hand.
    const auto turn = [&](int to) {
        if (to == mirror) return;
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                const int row = first_row + half * (tile_rows / 2) + 4 * row_lane + r;
                const Real sign = row < task.stride ? task.signs[mirror * task.stride + row] *
                                                          task.signs[to * task.stride + row]
                                                    : Real(1);
#pragma unroll
                for (int t = 0; t < 4; ++t) sum[4 * half + r][t] *= sign;
            }
        mirror = to;
    };
    const auto multiply = [&](int buffer) {
#pragma unroll
        for (int k = 0; k < depth; ++k) {
            alignas(16) Real a[8], b[4];
#pragma unroll
            for (int i = 0; i < 4; i += V) {
                *reinterpret_cast<Pack<Real>*>(a + i) =
                    *reinterpret_cast<const Pack<Real>*>(&stage.matrix[buffer][k][4 * row_lane + i]);
                *reinterpret_cast<Pack<Real>*>(a + 4 + i) = *reinterpret_cast<const Pack<Real>*>(
                    &stage.matrix[buffer][k][tile_rows / 2 + 4 * row_lane + i]);
                *reinterpret_cast<Pack<Real>*>(b + i) =
                    *reinterpret_cast<const Pack<Real>*>(&stage.values[buffer][k][4 * target_lane + i]);
            }
#pragma unroll
            for (int r = 0; r < 8; ++r)
#pragma unroll
                for (int t = 0; t < 4; ++t) sum[r][t] = fma(a[r], b[t], sum[r][t]);
        }
    };

    if (find()) {
        int column = 0;
        int buffer = 0;
        load(column);
        keep(buffer);
        for (;;) {
            turn(now.mirror);
            column += depth;
            bool more = true;
            if (column >= what.size) {
                sender += all_parts;
                column = 0;
                more = find();
            }
            if (more) load(column);
            __syncwarp();
            multiply(buffer);
            if (!more) break;
            buffer ^= 1;
            keep(buffer);
        }
    }
    turn(0);

    if constexpr (sender_warps >
                  1) { // sums of the other parts, in their order, through what is no longer staged
        __syncthreads();
        Real* const shared = reinterpret_cast<Real*>(stages);
        const auto place = [&](int of, int r, int t) {
            return ((of * row_warps + warp % row_warps) * 32 + r * 4 + t) * 32 + lane;
        };
        if (part > 0)
#pragma unroll
            for (int r = 0; r < 8; ++r)
#pragma unroll
                for (int t = 0; t < 4; ++t) shared[place(part - 1, r, t)] = sum[r][t];
        __syncthreads();
        if (part > 0) return;
#pragma unroll
        for (int of = 0; of < sender_warps - 1; ++of)
#pragma unroll
            for (int r = 0; r < 8; ++r)
#pragma unroll
                for (int t = 0; t < 4; ++t) sum[r][t] += shared[place(of, r, t)];
    }

#pragma unroll
    for (int t = 0; t < 4; ++t) {
        const int at = 4 * target_lane + t;
        if (at >= tile.count) continue;
        const auto cell = task.list != nullptr ? task.list[tile.first + at] : tile.first + at;
        if (pass == Pass::up && task.tree.is_leaf(cell)) continue;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = first_row + half * (tile_rows / 2) + 4 * row_lane;
            if (row >= task.stride) continue;
            Real* const out = task.to +
                              (static_cast<std::int64_t>(blockIdx.z) * task.part_cells + cell) * task.stride +
                              row;
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                if constexpr (pass == Pass::down)
                    out[r] += sum[4 * half + r][t];
                else
                    out[r] = sum[4 * half + r][t];
            }
        }
    }
}

template <class Real, Pass pass>
void launch_translate(const TranslateTask<Real>& task, int functions, cudaStream_t stream) {
    const int row_tiles = (functions + tile_rows - 1) / tile_rows;
    const auto launch = [&](auto kernel, int row_warps) {
        const dim3 blocks(static_cast<unsigned>(task.tile_count),
                          static_cast<unsigned>((row_tiles + row_warps - 1) / row_warps),
                          static_cast<unsigned>(task.parts));
        kernel<<<blocks, translate_threads, 0, stream>>>(task);
    };
    if (row_tiles == 1)
        launch(translate_kernel<Real, pass, 1>, 1);
    else if (row_tiles == 2)
        launch(translate_kernel<Real, pass, 2>, 2);
    else
        launch(translate_kernel<Real, pass, 4>, 4);
    check_launch("translations between cells");
}

template <class Real>
void translate(const TranslateTask<Real>& task, Pass pass, int functions, cudaStream_t stream) {
    if (task.tile_count == 0) return;
    if (pass == Pass::up)
        launch_translate<Real, Pass::up>(task, functions, stream);
    else if (pass == Pass::across)
        launch_translate<Real, Pass::across>(task, functions, stream);
    else
        launch_translate<Real, Pass::down>(task, functions, stream);
}

} // namespace farfield::cuda
