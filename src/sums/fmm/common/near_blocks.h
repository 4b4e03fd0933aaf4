// The near field of a tree as lists of blocks: its leaves, each pair of them once where targets are the
// sources.
#pragma once

#include "sums/direct/cpu/blocks/block_sum.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace farfield {

/// Leaves at which a part may begin that a rank sums (`BlockSumTask::rank_blocks`), and at the end their
/// number. @param leaves  all, in the order of their points
std::vector<std::int32_t> part_starts(const Octree& tree, std::span<const std::int32_t> leaves);
/// Pairs of the lists, by leaf of the targets, of leaves [begin, end).
std::vector<double> pairs_of_leaves(const Octree& tree, const NearLists& lists, LeafRange leaves);

class NearBlocks {
public:
    /// What of a tree is a rank's where it has a part of it.
    struct Share {
        comm::Transport* ranks = nullptr;
        std::vector<std::int32_t> groups; ///< of a self sum, as MutualBlocks has them
        LeafRange own_leaves;
    };
    /// Tree and lists must stay as they are while sums are computed.
    /// @param share  none: this process has the whole tree; else called by all ranks
    void make(const Octree& tree, const NearLists& lists, int threads,
              const std::optional<Share>& share = std::nullopt);

    /// P2P. Hessians and dipoles take each pair from both sides.
    void sum(const BlockSumTask& task);
    /// The same in two parts, as MutualBlocks::begin says. None is left where the first did all, as it does
    /// without ranks: nobody is waited for.
    [[nodiscard]] std::optional<MutualBlocks::Begun> begin(const BlockSumTask& task);
    void end(MutualBlocks::Begun& begun) const { std::get<MutualBlocks>(blocks_).end(begun); }

    /// Of all ranks, directed.
    [[nodiscard]] std::int64_t pairs() const { return pairs_; }
    /// Those that are computed where neither a Hessian nor dipoles are asked for.
    [[nodiscard]] double computed_pairs() const { return computed_pairs_; }

private:
    const OneSidedBlocks& from_both_sides();
    void count(const BlockLists& blocks, LeafRange leaves, int threads);

    const Octree* tree_ = nullptr;
    const NearLists* lists_ = nullptr;
    std::variant<std::monostate, OneSidedBlocks, MutualBlocks> blocks_;
    std::optional<OneSidedBlocks> both_sides_; ///< of mutual blocks, once they are asked for
    std::int64_t pairs_ = 0;
    double computed_pairs_ = 0.0;
};

} // namespace farfield
