// The sources of a tree's cells: centres, radii, and multipole expansions about the centres (P2M, M2M).
#pragma once

#include "base/aligned.h"
#include "sums/points/block_lists.h"
#include "sums/tree/octree.h"
#include "sums/treecode/shape.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}
class CellShares;

/// What a walk needs of a cell. What each look at it needs comes first, in one cache line.
struct SourceCell {
    double centre[3] = {0.0, 0.0, 0.0}; ///< of |q|
    double radius = 0.0;                ///< of a ball about it that holds all sources
    double magnitude = 0.0;             ///< Σ|q|
    BlockRange sources{};
    std::int32_t first_child = no_cell; ///< children lie one after the other
    std::int32_t children = 0;          ///< 0: a leaf
    double second = 0.0;                ///< Σ|q| |y|², y from the centre
    /// ρ^(p+3) and ρ^(p+2) at which the estimates of the errors of the field and of the potential are what
    /// the accuracy allows, where all that acts on the target is 1; the roots of both. 0 without an accuracy.
    double field_reach = 0.0;
    double potential_reach = 0.0;
};

/// Sources that this process has: rows [first, first + as many) in the order of the tree.
struct SourceRows {
    const std::array<RawVector<double>, 3>& x;
    std::span<const double> strengths;
    std::int32_t first = 0;
};

class SourceCells {
public:
    /// Of all sources. The tree must outlive this.
    /// @param ranks  that have the same tree and sources: each makes a part; null: none
    void make(const Octree& tree, const SourceRows& sources, const TreecodeShape& shape, int threads,
              comm::Transport* ranks = nullptr);
    /// Rank r has the sources [cuts[r], cuts[r + 1]), and gets all cells.
    void make_of_ranks(const Octree& tree, const SourceRows& sources, const TreecodeShape& shape, int threads,
                       comm::Transport& ranks, std::span<const std::int32_t> cuts);

    [[nodiscard]] const SourceCell& cell(std::int32_t number) const {
        return cells_[static_cast<std::size_t>(number)];
    }
    /// Strengths have both signs. Otherwise dipoles about the centres are 0.
    [[nodiscard]] bool have_dipoles() const { return have_dipoles_; }
    /// Cells may act through local expansions of targets, which take monopoles alone.
    [[nodiscard]] bool act_locally() const { return local_ && !have_dipoles_; }
    /// The unit of length of its expansion.
    [[nodiscard]] double unit(std::int32_t number) const {
        return units_[static_cast<std::size_t>(tree_->cell(number).level)];
    }
    /// The expansion as `add_far_value` takes it: floats, or doubles where the shape is wide.
    [[nodiscard]] const void* numbers(std::int32_t cell) const {
        const auto place = static_cast<std::size_t>(cell) * numbers_a_cell_;
        return wide_ ? static_cast<const void*>(doubles_.data() + place) : floats_.data() + place;
    }

private:
    void begin(const Octree& tree, const TreecodeShape& shape, bool have_dipoles);
    void make_on_ranks(comm::Transport& ranks, const CellShares& shares, const SourceRows& sources,
                       const TreecodeShape& shape, int threads);
    /// Those of a level that `wanted(number)` names.
    template <class Wanted>
    void make_level(int level, const SourceRows& sources, const TreecodeShape& shape, int threads,
                    const Wanted& wanted);
    /// Bytes of expansions, and of what else is known, of some cells that follow each other.
    [[nodiscard]] std::array<std::span<std::byte>, 2> bytes_of_cells(BlockRange cells);
    void make_cell(std::int32_t number, const SourceRows& sources, const TreecodeShape& shape);
    void add_points(const TreeCell& from, const SourceRows& sources, SourceCell& to, double* moments,
                    int order, double unit) const;
    void add_children(std::int32_t number, SourceCell& to, double* moments, int order) const;

    const Octree* tree_ = nullptr;
    bool local_ = false;
    bool wide_ = true;
    bool have_dipoles_ = false;
    std::size_t moments_a_cell_ = 0, numbers_a_cell_ = 0;
    std::vector<SourceCell> cells_;
    std::vector<double> units_; ///< of levels
    RawVector<double> moments_;
    RawVector<float> floats_;
    RawVector<double> doubles_;
};

} // namespace farfield
