// The near field of a tree as lists of blocks: its leaves, each pair of them once where targets are the
// sources.
#pragma once

#include "sums/direct/cpu/blocks/block_sum.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace farfield {

/// Leaves at which a part may begin that a rank sums (`BlockSumTask::rank_blocks`), and at the end their
/// number.
std::vector<std::int32_t> part_starts(const Octree& tree, const NearLists& lists);
/// Pairs of the lists, by leaf of the targets.
std::vector<double> pairs_of_leaves(const Octree& tree, const NearLists& lists);

class NearBlocks {
public:
    /// Tree and lists must stay as they are while sums are computed.
    void make(const Octree& tree, const NearLists& lists, int threads);

    /// P2P. Hessians and dipoles take each pair from both sides.
    void sum(const BlockSumTask& task);
    /// The same in two parts, as MutualBlocks::begin says. None is left where the first did all, as it does
    /// without ranks: nobody is waited for.
    [[nodiscard]] std::optional<MutualBlocks::Begun> begin(const BlockSumTask& task);
    void end(MutualBlocks::Begun& begun) const { std::get<MutualBlocks>(blocks_).end(begun); }

    [[nodiscard]] std::int64_t pairs() const { return pairs_; } ///< directed
    /// Those that are computed where neither a Hessian nor dipoles are asked for.
    [[nodiscard]] double computed_pairs() const { return computed_pairs_; }

private:
    const OneSidedBlocks& from_both_sides();

    const Octree* tree_ = nullptr;
    const NearLists* lists_ = nullptr;
    std::variant<std::monostate, OneSidedBlocks, MutualBlocks> blocks_;
    std::optional<OneSidedBlocks> both_sides_; ///< of mutual blocks, once they are asked for
    std::int64_t pairs_ = 0;
    double computed_pairs_ = 0.0;
};

} // namespace farfield
