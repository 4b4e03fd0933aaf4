// An octree that is built and kept on a GPU, with the cells, the order of points and the near lists of
// octree.h and near_lists.h; or a quadtree, with those of an octree whose points have z = 0. Only counts come
// back to the host.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "backend/cuda/vec4.h"
#include "backend/cuda/workspace.h"
#include "sums/points/prepared.h"
#include "sums/tree/cube.h"
#include "sums/tree/cuda/device_counts.cuh"
#include "sums/tree/octree.h"
#include "sums/tree/tree_share.h"
#include "sums/tree/tree_view.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace farfield::cuda {

/// Keys of points in rising order.
struct SortedKeys {
    const std::uint64_t* wide = nullptr;
    const std::uint32_t* narrow = nullptr; ///< or null
    [[nodiscard]] FF_HD std::uint64_t operator[](std::int64_t i) const {
        return narrow != nullptr ? narrow[i] : wide[i];
    }
};

/// Points in the order of the tree.
struct DevicePoints {
    DeviceArray<std::uint64_t> keys, unsorted_keys;
    bool narrow = false;                      ///< keys are 32 bits wide, in the same memory
    DeviceArray<std::int32_t> from, unsorted; ///< number i stands where the caller has number from[i]
    DeviceArray<std::int32_t> where;          ///< the inverse of `from`
    DeviceArray<Vec4<double>> at;             ///< in the frame; w, in the plane z and w are 0
    int count = 0;
    bool placed = false; ///< `at` and `where` are those of the order

    [[nodiscard]] SortedKeys sorted_keys() const {
        return {keys.data(), narrow ? reinterpret_cast<const std::uint32_t*>(keys.data()) : nullptr};
    }
};

/// Row r has partners[first[r]] … partners[last[r] − 1].
struct DeviceRows {
    const std::int32_t* first = nullptr;
    const std::int32_t* last = nullptr;
    const std::int32_t* partners = nullptr;
    int total = 0; ///< entries of all rows
};

class DeviceTree {
public:
    /// @param places_sources  false: who sets strengths sets the points beside them @param lists  false: no
    /// neighbours and no lists, only cells
    explicit DeviceTree(int dimension = 3, bool places_sources = true, bool lists = true,
                        TreeShare share = {})
        : dimension_(dimension), places_sources_(places_sources), lists_(lists), share_(share) {}

    /// Sources N×3 and targets M×3 (in the plane ×2), contiguous, in the caller's units; `targets` is null
    /// where they are the sources. Waits for the counts. @param cube  around all of them, in the frame; of a
    /// periodic tree the box
    void build(const double* sources, int n, const double* targets, int m, const Frame& frame,
               const TreeCube& cube, const TreeShape& shape, std::int32_t few, cudaStream_t stream);

    [[nodiscard]] TreeView view() const;
    [[nodiscard]] const DevicePoints& sources() const { return sources_; }
    /// Of a share, too, all.
    [[nodiscard]] const DevicePoints& targets() const { return self_ ? sources_ : targets_; }
    [[nodiscard]] bool is_share() const { return !share_.is_whole(); }
    /// Rows of the order of the tree.
    [[nodiscard]] BlockRange own_targets() const { return own_targets_; }
    /// Of a share: for each level the cells from the first leaf whose expansions it forms (TreeView::forms)
    /// to the last; of other shares none lies between.
    [[nodiscard]] const std::vector<BlockRange>& own_leaves() const { return own_leaves_; }
    /// Sets `where` of sources that others place, unless that was done.
    void find_sources(cudaStream_t stream);
    /// Their strengths are w (in the plane z and w), set from outside.
    [[nodiscard]] Vec4<double>* weighted_sources() { return sources_.at.data(); }
    [[nodiscard]] int levels() const { return static_cast<int>(levels_.size()) - 1; }
    [[nodiscard]] std::int32_t level_begin(int level) const {
        return levels_[static_cast<std::size_t>(level)];
    }
    [[nodiscard]] int cells() const { return levels_.back(); }
    [[nodiscard]] int leaf_count() const { return leaf_count_; }
    [[nodiscard]] const std::int32_t* leaves() const { return leaves_.data(); }

    /// For each leaf, the leaves (as numbers within `leaves`) whose sources act on its targets: each pair
    /// from both sides, and where targets are the sources no leaf with itself.
    [[nodiscard]] const DeviceRows& direct() const { return direct_; }
    /// For each leaf, cells whose multipole expansions are evaluated at its targets.
    [[nodiscard]] const DeviceRows& multipoles() const { return multipoles_; }
    /// For each cell, leaves (as cells) whose points are taken into its local expansion.
    [[nodiscard]] const DeviceRows& points() const { return points_; }

    /// Cells with targets, in the order of their levels, octants and numbers; how many of each level and
    /// octant there are: counts[8·level + octant].
    [[nodiscard]] const std::int32_t* by_octant() const {
        return is_share() ? shared_by_octant_.data() : by_octant_.data();
    }
    [[nodiscard]] const std::vector<std::int32_t>& octant_counts() const { return octant_counts_; }
    /// Of a share those of the whole tree.
    [[nodiscard]] const std::vector<std::int32_t>& all_octant_counts() const { return all_octant_counts_; }
    [[nodiscard]] int largest_leaf() const { return largest_leaf_; }      ///< targets
    [[nodiscard]] std::int64_t near_pairs() const { return near_pairs_; } ///< directed

private:
    [[nodiscard]] int sorted_level(int step) const;
    [[nodiscard]] int first_step(int points) const;
    [[nodiscard]] int limit() const; ///< the deepest level that cells may have
    [[nodiscard]] int first_leaf_level() const {
        return shape_.period > 0.0 ? first_level_of_leaves(shape_.coarse, shape_.separation) : 0;
    }
    void choose_depth(int step);
    void sort(const double* points, int count, DevicePoints& out, const Frame& frame, cudaStream_t stream);
    void make_room_for(int cells);
    void make_room_for_neighbours();
    void make_levels(cudaStream_t stream);
    [[nodiscard]] const BlockRange* all_target_ranges() const {
        return self_ ? source_ranges_.data() : target_ranges_.data();
    }
    /// Leaves cells outside the share without targets, once there are levels.
    void take_share(cudaStream_t stream);
    [[nodiscard]] int last_dense_level() const;
    /// The same, if no level lies below the last dense one. @pre there is one
    void make_levels_at_once(cudaStream_t stream);
    enum class Lists : std::uint8_t { count, fill, fill_again };
    /// Entries of a leaf's row of leaves that is filled while it is counted: its neighbours; in the plane all
    /// of their children, too.
    [[nodiscard]] int short_row() const { return dimension_ == 3 ? 32 : 40; }
    void place(const double* points, DevicePoints& out, const Frame& frame, cudaStream_t stream);
    /// What is queued while the host waits for counts.
    using Meanwhile = std::function<void()>;
    TreeCounts queue(std::int32_t few, cudaStream_t stream, const Meanwhile& meanwhile);
    TreeCounts counts(cudaStream_t stream, const Meanwhile& meanwhile);
    void make_room_for_rows(cudaStream_t stream);
    void make_room_for_order();
    /// before[k]: the sum of counts[0 … k − 1].
    void add_up(const std::int32_t* counts, std::int32_t* before, int size, cudaStream_t stream);
    void list_near(std::int32_t few, Lists step, cudaStream_t stream);
    void take(const TreeCounts& counts);

    int dimension_;
    bool places_sources_, lists_;
    TreeShare share_;
    TreeShape shape_;
    TreeCube cube_;
    bool self_ = true;
    int finest_ = 0; ///< the level that points are sorted down to
    int step_ = -1;  ///< of the levels to sort down to: what the last tree took; −1: there was none
    DevicePoints sources_, targets_;
    std::vector<std::int32_t> levels_{0};
    BlockRange own_targets_;
    std::vector<BlockRange> own_leaves_;
    int leaf_count_ = 0, largest_leaf_ = 0;
    std::int64_t near_pairs_ = 0;
    std::vector<std::int32_t> octant_counts_, all_octant_counts_;
    int capacity_ = 0; ///< cells that there is room for
    DeviceArray<CellPlace> places_;
    DeviceArray<std::int32_t> parents_, children_, divided_, neighbours_;
    DeviceArray<BlockRange> source_ranges_, target_ranges_;
    DeviceArray<std::int32_t> leaves_, leaf_numbers_, by_octant_, masks_;
    DeviceArray<BlockRange> child_sources_, child_targets_;
    DeviceArray<std::int32_t> coarse_cells_;
    DeviceArray<std::int32_t> row_counts_, row_first_, partners_;
    bool at_once_ = true; ///< no level of the last tree lay below the last dense one
    DeviceArray<BlockRange> shared_ranges_;
    DeviceArray<std::int32_t> shared_by_octant_, share_tally_;
    DeviceArray<std::uint8_t> shared_cells_;
    DeviceArray<std::int32_t> dense_starts_;
    Workspace dense_numbers_;
    DeviceArray<std::int32_t> short_first_, short_last_, short_partners_;
    DeviceArray<std::int32_t> leaves_in_order_, leaves_before_, first_sources_; ///< by points
    DeviceArray<std::uint8_t> beside_leaf_;
    bool by_points_ = false, marks_leaves_ = false; ///< rows are listed by these, and with those
    bool long_rows_ = true; ///< of the last tree: the next one's are filled without asking
    DeviceRows direct_, multipoles_, points_;
    DeviceArray<TreeCounts> counts_;
    PinnedArray<TreeCounts> seen_counts_;
    Signal counted_;
    int blocks_ = 0;                ///< of the launch that divides cells
    Workspace workspace_, tallies_; ///< of sorting and scanning; of that launch
};

} // namespace farfield::cuda
