// Which targets a thread block of MirroredTranslation has, where their senders are, and which steps it takes.
#pragma once

#include "sums/fmm/cuda/mirrored_products.cuh"
#include "sums/fmm/cuda/mirrored_translate.cuh"
#include "sums/tree/tree_view.h"

namespace farfield::cuda {

constexpr int most_mirrored_classes = 384; ///< of offsets, with those of the coarsest level
constexpr int sender_places = 8 * 27;

template <class Real>
struct MirroredTask {
    TreeView tree;
    const MirroredTile* tiles;
    const std::int32_t* by_octant;
    const Real* from; ///< sorted multipole expansions of all cells, `stride` numbers each
    Real* to;         ///< expansions of `expansion_stride` numbers
    Real* sorted;     ///< of parents, the same once more; or null
    Real* partial;    ///< where parts of a tile go: `partial_cells` expansions of each
    int partial_cells;
    int stride, expansion_stride;
    int size; ///< functions
    int levels, classes;
    std::int32_t begin[parities], counts[parities];
    const std::int32_t* functions;
    const std::int32_t* places;
    const std::int32_t* first_step;
    const MirroredStep* steps;
    const Real* matrices;
};

template <class Shape>
struct MirroredStage {
    using Real = typename Shape::Number;
    alignas(16) Real sums[2][parities][mirrored_columns][Shape::row];
    alignas(16) Real matrices[2][parities][Shape::matrix];
    MirroredStep steps[3];
    union {
        std::int32_t senders[sender_places][Shape::targets];
        std::int32_t coarse_cells[sender_places * Shape::targets]; ///< for targets on the coarsest level
    };
    std::int32_t target[Shape::targets];
    bool is_sent[most_mirrored_classes];
    std::int32_t sent_count; ///< of the classes that some target has a sender for
    std::int32_t first_step[most_mirrored_classes], end_step[most_mirrored_classes]; ///< of each of them
};

/// What all steps of a thread block share.
template <class Shape>
class MirroredSenders {
protected:
    using Real = typename Shape::Number;
    const MirroredTask<Real>& task_;
    MirroredStage<Shape>& stage_;
    const MirroredTile tile_;
    const int thread_ = static_cast<int>(threadIdx.x);
    const int lane_ = thread_ % 32;
    const int warp_ = thread_ / 32;

    __device__ MirroredSenders(const MirroredTask<Real>& task, MirroredStage<Shape>& stage)
        : task_(task), stage_(stage), tile_(task.tiles[blockIdx.x]) {}

    __device__ void find() {
        find_targets();
        find_senders();
        list_classes();
    }

    /// The sender that is at this place for a target.
    [[nodiscard]] __device__ std::int32_t sender_at(std::int32_t place, int target) const {
        if (place < 0) return TreeView::none;
        if (!is_coarse()) return stage_.senders[place][target];
        const auto cell = stage_.target[target];
        if (cell == TreeView::none) return cell;
        const auto& at = task_.tree.places[cell];
        const int x = at.index[0] + place % 256 - 128;
        const int y = at.index[1] + place / 256 % 256 - 128;
        const int z = at.index[2] + place / 65536 - 128;
        const int coarse = task_.tree.coarse;
        if (x < 0 || y < 0 || z < 0 || x >= coarse || y >= coarse || z >= coarse) return TreeView::none;
        return stage_.coarse_cells[x + coarse * (y + coarse * z)];
    }

    [[nodiscard]] __device__ std::int32_t place_of(int offsets, int u) const {
        return task_.places[(tile_.group * task_.classes + offsets) * parities + u];
    }

private:
    __device__ void find_targets() {
        for (int t = thread_; t < Shape::targets; t += mirrored_threads) {
            auto cell = TreeView::none;
            if (t < tile_.count) cell = is_up() ? tile_.first + t : task_.by_octant[tile_.first + t];
            if (is_up() && cell != TreeView::none && task_.tree.is_leaf(cell)) cell = TreeView::none;
            stage_.target[t] = cell;
        }
        __syncthreads();
    }

    /// The cell, if it has sources.
    [[nodiscard]] __device__ std::int32_t sending(std::int32_t cell) const {
        if (cell == TreeView::none || task_.tree.self || task_.tree.sources[cell].size() > 0) return cell;
        return TreeView::none;
    }

    __device__ void find_senders() {
        const int coarse = task_.tree.coarse;
        if (is_coarse())
            for (int i = thread_; i < coarse * coarse * coarse; i += mirrored_threads)
                stage_.coarse_cells[i] = sending(task_.tree.coarse_cells[i]);
        const int slots = is_coarse() ? 0 : is_up() ? 1 : 27;
        for (int i = thread_; i < slots * Shape::targets; i += mirrored_threads) {
            const int t = i % Shape::targets;
            const int slot = i / Shape::targets;
            const auto cell = stage_.target[t];
            auto parent = cell;
            if (cell != TreeView::none && !is_up())
                parent = task_.tree.neighbour(task_.tree.parents[cell], slot);
#pragma unroll
            for (int octant = 0; octant < 8; ++octant)
                stage_.senders[8 * slot + octant][t] =
                    parent == TreeView::none ? TreeView::none : sending(task_.tree.child(parent, octant));
        }
        __syncthreads();
    }

    __device__ void list_classes() {
        const int level = is_up() ? task_.levels : min(tile_.level, task_.levels - 1);
        const auto* const first = task_.first_step + level * (task_.classes + 1);
        for (int c = warp_; c < task_.classes; c += parities) {
            bool any = false;
            if (first[c] < first[c + 1] && c % tile_.parts == tile_.part)
                for (int u = 0; u < parities; ++u)
                    for (int t = lane_; t < Shape::targets; t += 32)
                        any = any || sender_at(place_of(c, u), t) != TreeView::none;
            any = __any_sync(~0U, any ? 1 : 0) != 0;
            if (lane_ == 0) stage_.is_sent[c] = any;
        }
        __syncthreads();
        if (warp_ == 0) {
            int count = 0;
            for (int c = lane_; c - lane_ < task_.classes; c += 32) {
                const bool sent = c < task_.classes && stage_.is_sent[c];
                const unsigned all = __ballot_sync(~0U, sent ? 1 : 0);
                if (sent) {
                    const int place = count + __popc(all & ((1U << lane_) - 1));
                    stage_.first_step[place] = first[c];
                    stage_.end_step[place] = first[c + 1];
                }
                count += __popc(all);
            }
            if (lane_ == 0) stage_.sent_count = count;
        }
        __syncthreads();
    }

    [[nodiscard]] __device__ bool is_up() const { return tile_.group == up_group; }
    [[nodiscard]] __device__ bool is_coarse() const { return tile_.group == coarse_group; }
};

} // namespace farfield::cuda
