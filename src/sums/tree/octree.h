// An octree over a cube that holds all points. Level 0 divides the cube into k³ cells, k odd, so that leaves
// need not come in steps of eight; each further level halves cells that hold too many points. Cells without
// points do not exist.
#pragma once

#include "base/aligned.h"
#include "sums/points/block_lists.h"
#include "sums/tree/sort_keys.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// What the tree is to be.
struct TreeShape {
    int coarse = 1;         ///< k: level 0 has k³ cells; 1, 3, 5 or 7
    int depth = -1;         ///< ≥ 0: all leaves lie on this level, whatever they hold
    int deepest = -1;       ///< ≥ 0: no leaf lies below this level
    std::int32_t most = 64; ///< depth < 0: a cell with more sources or more targets is divided
    /// On a surface up to twice as many, by the points' dimension: a cell there has fewer neighbours.
    bool more_on_surfaces = false;
    /// > 0: leaves are divided, too, where that spares more pairs than this for each child, as they lie
    /// beside cells with many points.
    double pairs_a_cell = 0.0;
    bool steps = false; ///< the cube's side is rounded up to steps of 1/16 of a power of two
    /// > 0: points lie in [low, low + period)³, which is the cube, and cells have neighbours across its
    /// faces: those of the next images. Every level with leaves has at least 2·separation + 1 cells an axis,
    /// so that no cell is twice the neighbour of another.
    double period = 0.0, low = 0.0;
    int separation =
        1; ///< cells of a level are neighbours up to this distance, in cells (`ws` of the papers)
};

/// The deepest level of a tree with this k: numbers of cells have `morton_bits` bits.
int deepest_level(int coarse);

/// The first level of a periodic tree that may have leaves.
int first_level_of_leaves(int coarse, int separation);

constexpr std::int32_t no_cell = -1;

struct TreeCell {
    std::int32_t index[3] = {0, 0, 0}; ///< of its level's grid of k·2^level cells an axis
    std::int32_t level = 0;
    std::int32_t parent = no_cell;
    /// By octant, x the lowest bit; no_cell where there are no points.
    std::array<std::int32_t, 8> children{no_cell, no_cell, no_cell, no_cell,
                                         no_cell, no_cell, no_cell, no_cell};
    BlockRange sources{}; ///< in the order of the tree
    BlockRange targets{}; ///< the same range as `sources` where targets are the sources
    bool leaf = true;

    [[nodiscard]] int octant() const { return (index[0] & 1) | (index[1] & 1) << 1 | (index[2] & 1) << 2; }
};

/// Points in the order of a tree: number i stands where the caller has number from[i].
struct TreePoints {
    RawVector<std::int32_t> from;
    std::array<RawVector<double>, 3> x;
};

enum class PointSet : std::uint8_t { sources, targets };

class Octree {
public:
    /// Sources N×3 and targets M×3; `targets` is empty where they are the sources (`self`).
    /// @param ranks  not null: sources and targets are those of this rank. The cells are those of all ranks'
    ///     points, alike on all, and so are their numbers of points and the rows that they would have if one
    ///     rank had all points. Neighbours are known of the cells of a rank's share of these rows, and of
    ///     those that `add_neighbours` names. `take_points` brings the points.
    /// @param share_begins  where the shares of all ranks begin, from 0 to 1, and 1 at the end; empty: all
    /// alike
    Octree(std::span<const double> sources, std::span<const double> targets, bool self,
           const TreeShape& shape, int threads, comm::Transport* ranks = nullptr,
           std::span<const double> share_begins = {});

    [[nodiscard]] const TreeShape& shape() const { return shape_; }
    [[nodiscard]] bool self() const { return self_; }
    /// Of all ranks.
    [[nodiscard]] std::int64_t source_count() const { return counts_[0]; }
    [[nodiscard]] std::int64_t target_count() const { return counts_[self_ ? 0 : 1]; }
    [[nodiscard]] const TreePoints& sources() const { return sources_; }
    [[nodiscard]] const TreePoints& targets() const { return self_ ? sources_ : targets_; }

    [[nodiscard]] std::span<const TreeCell> cells() const { return cells_; }
    [[nodiscard]] const TreeCell& cell(std::int32_t number) const {
        return cells_[static_cast<std::size_t>(number)];
    }
    /// Cells of a level: [level_begin(l), level_begin(l + 1)), in the order of their Morton keys.
    [[nodiscard]] std::int32_t level_begin(int level) const {
        return levels_[static_cast<std::size_t>(level)];
    }
    [[nodiscard]] int levels() const { return static_cast<int>(levels_.size()) - 1; }

    [[nodiscard]] double width(int level) const; ///< of a cell
    [[nodiscard]] std::array<double, 3> centre(const TreeCell& cell) const;
    /// Of the image of a cell that lies nearest to another one: of a periodic tree, where no leaf is half a
    /// period wide and the two are neighbours, or one lies in a neighbour of the other.
    [[nodiscard]] std::array<double, 3> centre(const TreeCell& cell, const TreeCell& near) const;
    /// That image, in periods from the cell itself.
    [[nodiscard]] std::array<int, 3> image_near(const TreeCell& cell, const TreeCell& near) const;
    [[nodiscard]] bool is_periodic() const { return shape_.period > 0.0; }
    /// Cells an axis.
    [[nodiscard]] int across(int level) const { return shape_.coarse << level; }

    /// The neighbours of a cell on its level, itself among them: (2·separation + 1)³ numbers, x fastest,
    /// no_cell where there is none. Nothing where they are not known, over ranks.
    [[nodiscard]] std::span<const std::int32_t> neighbours(std::int32_t cell) const {
        const auto width = static_cast<std::size_t>(neighbour_count_);
        const auto row = neighbour_rows_.empty() ? cell : neighbour_rows_[static_cast<std::size_t>(cell)];
        if (row == no_cell) return {};
        return std::span(neighbours_).subspan(static_cast<std::size_t>(row) * width, width);
    }
    /// The place in `neighbours` of the cell at this distance.
    [[nodiscard]] std::int32_t neighbour_slot(int dx, int dy, int dz) const {
        const int w = shape_.separation;
        const int n = 2 * w + 1;
        return (dx + w) + n * ((dy + w) + n * (dz + w));
    }
    /// The cell of level 0 there, or no_cell, also outside of the grid.
    [[nodiscard]] std::int32_t coarse_cell(int x, int y, int z) const;

    /// Keys of points (N×3) in the order of the tree, where that of equal keys is as given: number i is row
    /// from[i].
    /// @param parts  begins of runs of rows that stand in this order already, and their end
    [[nodiscard]] SortedKeys order_of(std::span<const double> points, std::span<const std::int64_t> parts,
                                      int threads) const;
    /// Where ranks have their points: those that this rank was given, in the order of the tree, are rows
    /// given_order()[i], and a cell has [given(cell).begin, given(cell).end) of them.
    [[nodiscard]] std::span<const std::int32_t> given_order(PointSet set) const { return points(set).from; }
    [[nodiscard]] BlockRange given(PointSet set, std::int32_t cell) const {
        return given_[static_cast<std::size_t>(set)][static_cast<std::size_t>(cell)];
    }

    /// Made over ranks; `part` is not.
    [[nodiscard]] bool is_over_ranks() const { return !given_[0].empty(); }
    /// Of rows as first_row counts them, where the shares of ranks begin, and their number.
    [[nodiscard]] std::span<const std::int64_t> share_begins() const { return shares_->begins; }
    /// Where a cell's points begin among all of the sources and, where they are others, the targets before
    /// it.
    [[nodiscard]] std::int64_t first_row(const TreeCell& cell) const {
        return std::int64_t{cell.sources.begin} + (self_ ? 0 : cell.targets.begin);
    }
    [[nodiscard]] std::int64_t end_row(const TreeCell& cell) const {
        return std::int64_t{cell.sources.end} + (self_ ? 0 : cell.targets.end);
    }
    /// From now on the neighbours of these cells of one level are known. Those of their parents must be.
    void add_neighbours(std::int32_t begin, std::int32_t end, int threads);
    /// Some of the cells alone, numbered anew in the same order. A cell is a leaf, and has points, as in the
    /// whole tree. Neighbours are known where they were; of the others the cells that have them as
    /// neighbours.
    /// @param numbers  of these cells, rising, with all of level 0 and the parents of each
    /// @param new_numbers  the number of each cell of this tree in the part, or no_cell
    [[nodiscard]] Octree part(std::span<const std::int32_t> numbers,
                              std::span<const std::int32_t> new_numbers, int threads) const;
    /// Of the whole tree, also in a part of it: cells, and those of a level that have targets.
    [[nodiscard]] std::int64_t count_cells() const;
    [[nodiscard]] std::int64_t count_receivers(int level) const;

    /// Points of leaves that a rank has.
    struct LeafPoints {
        std::array<RawVector<double>, 3> x;
        std::vector<std::int32_t> cells;  ///< leaves
        std::vector<std::int32_t> begins; ///< the first row of each
    };
    /// From now on these are the points that this rank has; no targets where they are the sources. Rows of
    /// other cells say only how many there are.
    void take_points(LeafPoints sources, LeafPoints targets);

private:
    [[nodiscard]] std::size_t coarse_place(int x, int y, int z) const {
        const int place = x + shape_.coarse * (y + shape_.coarse * z);
        return static_cast<std::size_t>(place);
    }
    using Keys = RawVector<std::uint64_t>;
    /// A cell that may be empty, and its rows of the sources and targets that this rank was given.
    struct Found {
        TreeCell cell;
        std::array<BlockRange, 2> given{};
    };
    /// The cells within one, by octant.
    using Children = std::array<Found, 8>;
    /// Rows that ranks share, of all sources and targets.
    struct RowShares {
        std::vector<std::int64_t> begins; ///< of each rank, and the end
        int rank;
    };
    Octree() = default; ///< for `part`
    void choose_cube(std::span<const double> sources, std::span<const double> targets, comm::Transport* ranks,
                     int threads);
    void share_rows(const comm::Transport& ranks, std::span<const double> begins);
    /// Of cells [begin, end) of a level those that begin before a row.
    [[nodiscard]] std::int32_t cells_before(std::int32_t begin, std::int32_t end, std::int64_t row) const;
    [[nodiscard]] Keys keys_of(std::span<const double> points, int threads) const;
    TreePoints sorted(std::span<const double> points, Keys& keys, int threads) const;
    void fit_to_surfaces(const Keys& keys, comm::Transport* ranks, int threads);
    /// Rows that the first cell of a run begins with.
    struct RunBegin {
        std::int32_t sources = 0, targets = 0;
    };
    void count_over_ranks(comm::Transport& ranks, std::span<const std::span<Found>> runs,
                          std::span<const RunBegin> begins) const;
    [[nodiscard]] const TreePoints& points(PointSet set) const {
        return set == PointSet::sources ? sources_ : targets_;
    }
    /// Of the keys that a cell's parts are looked for in.
    [[nodiscard]] BlockRange rows_of(PointSet set, std::int32_t cell) const;
    void make_coarse_cells(const Keys& source_keys, const Keys& target_keys, comm::Transport* ranks);
    [[nodiscard]] Children children_of(std::int32_t number, const Keys& source_keys,
                                       const Keys& target_keys) const;
    void divide(std::int32_t begin, std::int32_t end, const Keys& source_keys, const Keys& target_keys,
                comm::Transport* ranks, int threads);
    [[nodiscard]] bool is_divided(const TreeCell& cell) const;
    /// Of cells [begin, end) of a level, 1 where one is to be divided: each rank looks at some.
    [[nodiscard]] std::vector<char> divided_over_ranks(std::int32_t begin, std::int32_t end,
                                                       comm::Transport& ranks, int threads) const;
    [[nodiscard]] std::int32_t find_neighbour(const TreeCell& cell, int dx, int dy, int dz) const;
    [[nodiscard]] bool is_beside_many(std::int32_t number) const;
    /// Those that the tree is to know of the cells of a new level.
    void find_neighbours(std::int32_t begin, std::int32_t end, int threads);
    /// Of one cell after the other, into rows from `row` on.
    void fill_neighbours(std::int32_t begin, std::int32_t end, std::int32_t row, int threads);

    TreeShape shape_;
    bool self_ = true;
    int finest_ = 0; ///< the level that keys stand for
    double low_[3] = {0.0, 0.0, 0.0};
    double side_ = 1.0;
    TreePoints sources_, targets_;
    std::array<std::int64_t, 2> counts_{}; ///< of all sources, of all targets
    AlignedVector<TreeCell> cells_;
    std::array<std::vector<BlockRange>, 2> given_; ///< by cell, where ranks have points
    std::vector<std::int32_t> levels_{0};
    std::vector<std::int32_t> coarse_; ///< k³ cells of level 0
    int neighbour_count_ = 27;
    RawVector<std::int32_t> neighbours_;
    std::vector<std::int32_t> neighbour_rows_;     ///< by cell, or no_cell; empty: row n is that of cell n
    std::optional<RowShares> shares_;              ///< over ranks
    std::vector<std::int64_t> receivers_of_whole_; ///< of a part: by level
    std::int64_t cells_of_whole_ = 0;              ///< of a part
};

} // namespace farfield
