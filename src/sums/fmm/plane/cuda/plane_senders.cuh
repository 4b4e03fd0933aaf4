// Tiles of columns in M2M, M2L and L2L: the expansions of targets of one level and group, and which senders
// they have.
#pragma once

#include "sums/fmm/plane/cuda/plane_far.cuh"

#include <cstdint>

namespace farfield::cuda {

constexpr int senders_together = 32; ///< that are looked up before they are used
constexpr int plane_around = 9;      ///< cells around one, and itself: of separation 1

/// A warp's own shared memory.
template <int columns = tile_columns>
struct Columns {
    static constexpr int rows = plane_quadrants * plane_around; ///< at least senders_together
    std::int32_t cell[columns];                                 ///< of the target, or none
    std::int32_t from[rows][columns];                           ///< numbers of expansions, or none
    PlaneSender sender[senders_together];
    std::int32_t row[senders_together]; ///< of each sender, in `from`
};

__device__ __forceinline__ void multiply(double (&c)[4], const double2& a, double b) {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a.x), "d"(a.y), "d"(b));
}

/// The one of these runs that a tile is of; asked by a warp.
__device__ __forceinline__ PlaneRun run_of(const PlaneRun* runs, int count, int tile) {
    int before = 0;
    for (int base = 0; base < count; base += 32) {
        const int i = base + static_cast<int>(threadIdx.x);
        before += __popc(__ballot_sync(~0U, i < count && runs[i].first_tile <= tile ? 1 : 0));
    }
    return runs[before - 1];
}

/// Not through the cache of constants: other blocks of the same launch may have written it.
__device__ __forceinline__ PlaneNumber read_again(const PlaneNumber* from) {
    const auto two = *reinterpret_cast<const double2*>(from);
    return {two.x, two.y};
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

/// A warp's tile.
template <PlanePass pass, int columns = tile_columns>
class ColumnTile {
protected:
    const PlaneFarView& far_;
    const PlaneOperatorView& at_;
    const std::int32_t* cells_; ///< PlaneShiftTask::cells
    Columns<columns>& columns_;
    PlaneRun run_{};
    const int lane_ = static_cast<int>(threadIdx.x);
    const int column_ = lane_ / 4; ///< of the numbers that it reads, the first of each eight

    unsigned there_ = 0; ///< a bit for each sender that was looked up and that some column has

    __device__ __forceinline__ void look_up_from(int begin) {
        const int count = min(senders_together, at_.first_sender[run_.group + 1] - begin);
        const bool coarse = run_.group == plane_coarse_group;
        const int sets = far_.sets;
        if (pass == PlanePass::across && !coarse && far_.tree.separation == 1)
            return look_up_around(begin, count);
        if (lane_ < count) {
            columns_.sender[lane_] = at_.senders[begin + lane_];
            columns_.row[lane_] = lane_;
        }
        __syncwarp();
        constexpr int at_once = 32 / columns;
        const int c = lane_ % columns, set = c % sets;
        const auto target = columns_.cell[c];
        there_ = 0;
        for (int first = 0; first < count; first += at_once) {
            const int s = first + lane_ / columns;
            auto cell = TreeView::none;
            if (s < count) {
                cell = sender_of<pass>(far_.tree, target, columns_.sender[s], coarse);
                columns_.from[s][c] = cell == TreeView::none ? cell : sets * cell + set;
            }
            const unsigned some = __ballot_sync(~0U, cell != TreeView::none ? 1 : 0);
#pragma unroll
            for (int i = 0; i < at_once; ++i)
                if ((some >> (columns * i) & ((1U << columns) - 1)) != 0) there_ |= 1U << (first + i);
        }
        __syncwarp();
    }

    /// M2L of separation 1: the children of all neighbours of the targets' parents, whose loads wait for each
    /// other only where one names the next.
    __device__ __forceinline__ void look_up_around(int begin, int count) {
        constexpr int at_once = 32 / columns, rounds = (plane_around + at_once - 1) / at_once;
        const auto& tree = far_.tree;
        const int c = lane_ % columns, set = c % far_.sets, first = lane_ / columns;
        const auto target = columns_.cell[c];
        const auto parent = target != TreeView::none ? tree.parents[target] : TreeView::none;
        std::int32_t near[rounds];
#pragma unroll
        for (int r = 0; r < rounds; ++r) {
            const int place = at_once * r + first;
            const bool any = parent != TreeView::none && place < plane_around;
            near[r] = any ? tree.neighbour(parent, place) : TreeView::none;
        }
        int4 children[rounds];
#pragma unroll
        for (int r = 0; r < rounds; ++r) {
            children[r] = {TreeView::none, TreeView::none, TreeView::none, TreeView::none};
            if (near[r] != TreeView::none)
                children[r] = __ldg(reinterpret_cast<const int4*>(tree.children) + near[r]);
        }
        std::uint64_t some = 0; // a bit for each row
#pragma unroll
        for (int r = 0; r < rounds; ++r) {
            const int place = at_once * r + first;
            const std::int32_t cells[plane_quadrants] = {children[r].x, children[r].y, children[r].z,
                                                         children[r].w};
#pragma unroll
            for (int k = 0; k < plane_quadrants; ++k) {
                const int row = plane_quadrants * place + k;
                const bool counts = cells[k] != TreeView::none &&
                                    (tree.self || tree.sources[cells[k]].size() > 0); // all have sources
                if (place < plane_around)
                    columns_.from[row][c] = counts ? far_.sets * cells[k] + set : TreeView::none;
                if (counts) some |= std::uint64_t{1} << row;
            }
        }
        some = static_cast<std::uint64_t>(__reduce_or_sync(~0U, static_cast<unsigned>(some >> 32))) << 32 |
               __reduce_or_sync(~0U, static_cast<unsigned>(some));
        bool is_there = false;
        if (lane_ < count) {
            const auto sender = at_.senders[begin + lane_];
            const int row = plane_quadrants * sender.place + sender.child;
            columns_.sender[lane_] = sender;
            columns_.row[lane_] = row;
            is_there = (some >> row & 1) != 0;
        }
        there_ = __ballot_sync(~0U, is_there ? 1 : 0);
        __syncwarp();
    }

    /// The first sender that is there, and the others stay; @pre some is.
    __device__ __forceinline__ int take_next() {
        const int s = __ffs(static_cast<int>(there_)) - 1;
        there_ &= there_ - 1;
        return s;
    }

    /// Looks up senders group by group, and calls body() for each.
    template <class Body>
    __device__ __forceinline__ void each_lookup(const Body& body) {
        const int first = at_.first_sender[run_.group], end = at_.first_sender[run_.group + 1];
        for (int begin = first; begin < end; begin += senders_together) {
            if (begin > first) look_up_from(begin);
            body();
            __syncwarp();
        }
    }

    /// M2M: leaves keep what their points made.
    __device__ __forceinline__ bool takes(std::int32_t cell) const {
        const auto& tree = far_.tree;
        return pass != PlanePass::up || (!tree.is_leaf(cell) && (tree.self || tree.sources[cell].size() > 0));
    }

    __device__ __forceinline__ void find_targets(int tile, const PlaneRun& run) {
        if (lane_ < columns) {
            const int sets = far_.sets;
            const int i = (tile - run.first_tile) * (columns / sets) + lane_ / sets;
            std::int32_t cell = TreeView::none;
            if (i < run.cells) cell = cells_ != nullptr ? cells_[run.first + i] : run.first + i;
            columns_.cell[lane_] = cell != TreeView::none && takes(cell) ? cell : TreeView::none;
        }
        __syncwarp();
    }

public:
    __device__ __forceinline__ ColumnTile(const PlaneFarView& far, const PlaneOperatorView& at,
                                          const std::int32_t* cells, Columns<columns>& own)
        : far_(far), at_(at), cells_(cells), columns_(own) {}

    /// Finds targets and their first senders; the matrix need not be there yet.
    __device__ __forceinline__ void begin(const PlaneRun& run, int tile) {
        run_ = run;
        find_targets(tile, run_);
        look_up_from(at_.first_sender[run_.group]);
    }
};

} // namespace farfield::cuda
