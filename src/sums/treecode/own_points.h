// Points of a tree code's sum where each rank gives some. A rank sums over targets of its own leaves, whole
// groups of them, and has the sources there; all ranks know all cells. Sources of other ranks that act on its
// groups point by point are brought in each execution, as the walks depend on strengths.
#pragma once

#include "sums/direct/cpu/rank_points.h"
#include "sums/tree/octree.h"
#include "sums/treecode/descent.h"
#include "sums/treecode/target_tree.h"

#include <farfield/communicator.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace farfield {

class TreecodePoints {
public:
    /// None where this process is alone, or all ranks give everything.
    static std::optional<TreecodePoints> of(const Communicator& communicator);

    /// As PreparedSum has it.
    void number_sources(std::span<const std::int64_t> numbers) {
        numbers_.assign(numbers.begin(), numbers.end());
    }
    [[nodiscard]] std::span<const double> numbers() const { return numbers_; }

    /// Divides groups among ranks, brings points to those that have them, and sets the boxes of nodes. Called
    /// by all ranks. @param tree  over ranks  @param sources, targets  this rank's, as the tree was made of
    void take(const Octree& tree, std::span<TargetNode> nodes, std::span<const double> sources,
              std::span<const double> targets, int threads);

    [[nodiscard]] comm::Transport& ranks() const { return *ranks_; }
    [[nodiscard]] const RankPoints& sources() const { return *sources_; }
    /// The sources where they are the targets.
    [[nodiscard]] const RankPoints& targets() const { return targets_ ? *targets_ : *sources_; }
    /// Rows in the order of the tree that are this rank's.
    [[nodiscard]] BlockRange own_sources() const { return own_sources_; }
    [[nodiscard]] BlockRange own_targets() const { return own_targets_; }
    /// Coordinates of own rows.
    [[nodiscard]] const TargetRows& source_rows() const { return source_x_; }
    [[nodiscard]] const TargetRows& target_rows() const { return target_x_; }
    /// Rows of sources that ranks begin with, and their number.
    [[nodiscard]] std::span<const std::int32_t> cuts() const { return cuts_; }

    /// Own sources and those of other ranks that groups name, in the order of the tree.
    struct Near {
        TargetRows x;
        RawVector<double> strengths;
        std::int32_t own_begin = 0; ///< row of the first own one
    };
    /// Groups name rows of it from now on, and of own targets where these are others than the sources. Called
    /// by all ranks. @param strengths  of own sources
    [[nodiscard]] Near bring(const Octree& tree, std::span<const double> strengths,
                             std::vector<std::vector<GroupSources>>& groups, int threads) const;

private:
    void divide(const Octree& tree, std::span<const TargetNode> nodes);
    void set_boxes(std::span<TargetNode> nodes, int threads) const;
    [[nodiscard]] RankHalo
    leaves_to_bring(const Octree& tree, std::span<const std::vector<GroupSources>> groups, int threads) const;

    comm::Transport* ranks_ = nullptr;
    bool self_ = true;
    std::vector<double> numbers_;            ///< of sources, or none
    std::vector<std::int32_t> leaves_;       ///< in the order of their points
    std::vector<std::int32_t> first_leaves_; ///< of ranks
    std::vector<std::int32_t> cuts_;         ///< of sources
    std::vector<std::int32_t> target_cuts_;
    BlockRange own_sources_{}, own_targets_{};
    std::optional<RankPoints> sources_, targets_;
    TargetRows source_x_, target_x_;
};

} // namespace farfield
