// Sums over blocks on a CPU: the near field of methods that compute the far field otherwise. Lists are
// prepared once and serve many sums, e.g. with other strengths. The bits are the same for any number of
// threads.
#pragma once

#include "backend/threads/work_watch.h"
#include "base/aligned.h"
#include "sums/direct/cpu/blocks/mutual_division.h"
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/kernels/kernel.h"
#include "sums/points/block_lists.h"

#include <farfield/sum.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// What one sum needs besides its lists. Sums are stored for points in target blocks (TileSums says which, no
/// sign of a kernel) and left alone elsewhere. Hessians (`hessian_too`) are for one-sided
/// sums only. Distinct coincident points without
/// softening give results that are not finite: finding them is the caller's.
struct BlockSumTask {
    PairLoop loop = PairLoop::inverse_distance;
    Precision precision = Precision::float64;
    LoopOutputs outputs = field_and_potential;
    TilePoints targets; ///< the sources, if blocks act on themselves
    TilePoints sources;
    double softening = 0.0;
    double sigma = 0.0; ///< with PairLoop::vortex: of the core; 0: points
    TileSums sums;
    Isa isa = Isa::scalar; ///< resolved
    int threads = 1;
    WorkWatch* watch = nullptr;       ///< told of pairs; once stopped, sums are left unfinished
    comm::Transport* ranks = nullptr; ///< share the targets: as `rank_blocks` says, or the tree code's nodes
    /// Rank r sums blocks [rank_blocks[r], rank_blocks[r + 1]) alone; empty: all. Parts
    /// of mutual sums begin with groups (`mutual_groups`).
    std::span<const std::int32_t> rank_blocks = {};
    bool adds = false; ///< one-sided sums are added to what is there
};

/// Sources act on targets. Blocks may overlap, and lists may name a block twice: it then acts twice.
class OneSidedBlocks {
public:
    /// For lists that `check_lists` accepts. They are copied.
    explicit OneSidedBlocks(const BlockLists& lists);
    /// Ranks may begin at any block.
    void sum(const BlockSumTask& task) const;

private:
    std::vector<BlockRange> blocks_;
    std::vector<BlockSource> sources_;
    std::vector<std::int64_t> sources_first_;
    std::vector<std::int32_t> tasks_; ///< task t has blocks [tasks_[t], tasks_[t + 1])
    bool own_;
};

/// Targets are the sources, and each pair of blocks is listed once, with either of the two: a pair of points
/// is computed once and acts on both. Nearly twice as fast.
class MutualBlocks {
public:
    /// For lists that `check_mutual_lists` accepts. They are copied.
    MutualBlocks(const BlockLists& lists, std::int64_t points, int threads = 1);
    /// @param groups  as divide_mutual takes them
    MutualBlocks(const BlockLists& lists, std::vector<std::int32_t> groups, int threads);

    /// A sum of which others' parts are missing.
    struct Begun {
        BlockSumTask task;
        RawVector<double> memory; ///< of the sums apart
        TileSums apart;
        std::unique_ptr<RowExchange> exchange; ///< where there are ranks: under way
    };
    /// Everything of this rank's groups; `end` adds what groups owe each other. In between other work can be
    /// done, but none at the sums.
    [[nodiscard]] Begun begin(const BlockSumTask& task) const;
    void end(Begun& begun) const;
    void sum(const BlockSumTask& task) const {
        auto begun = begin(task);
        end(begun);
    }

private:
    [[nodiscard]] std::unique_ptr<RowExchange> exchange_apart(const BlockSumTask& task,
                                                              const TileSums& apart) const;
    /// The first of this rank's groups, and their number.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> own_groups(const BlockSumTask& task) const;
    void act(const BlockSumTask& task, const BlockTile& whole, std::size_t group) const;
    void add_apart(const BlockSumTask& task, const TileSums& apart, std::size_t block) const;

    std::vector<BlockRange> blocks_;
    MutualDivision division_;
    bool own_;
};

} // namespace farfield
