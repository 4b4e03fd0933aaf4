#include "sums/fmm/common/near_blocks.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"

#include <numeric>

namespace farfield {

namespace {

std::vector<BlockRange> source_blocks(const Octree& tree, std::span<const std::int32_t> leaves, int threads) {
    constexpr std::size_t leaves_a_task = 2048;
    std::vector<BlockRange> out(leaves.size());
    parallel_parts(
        threads, out.size(),
        [&](std::size_t begin, std::size_t end) {
            for (auto n = begin; n < end; ++n) out[n] = tree.cell(leaves[n]).sources;
        },
        leaves_a_task);
    return out;
}

} // namespace

void NearBlocks::make(const Octree& tree, const NearLists& lists, int threads,
                      const std::optional<Share>& share) {
    tree_ = &tree;
    lists_ = &lists;
    both_sides_.reset();
    const auto sources = source_blocks(tree, lists.leaves, threads);
    std::vector<BlockRange> targets;
    if (!tree.self())
        for (const auto leaf : lists.leaves) targets.push_back(tree.cell(leaf).targets);
    const BlockLists blocks{.targets = tree.self() ? sources : targets,
                            .sources = sources,
                            .first = lists.direct.first,
                            .partners = lists.direct.partners,
                            .own = tree.self()};
    const auto own = share ? share->own_leaves : LeafRange{0, static_cast<std::int32_t>(lists.leaves.size())};
    count(blocks, own, threads);
    if (share) {
        pairs_ = comm::sum_of_ranks(*share->ranks, pairs_);
        computed_pairs_ = comm::sum_of_ranks(*share->ranks, computed_pairs_);
    }
    if (!tree.self())
        blocks_.emplace<OneSidedBlocks>(blocks);
    else if (share)
        blocks_.emplace<MutualBlocks>(blocks, share->groups, threads);
    else
        blocks_.emplace<MutualBlocks>(blocks, tree.source_count(), threads);
}

// Those of leaves [begin, end).
void NearBlocks::count(const BlockLists& blocks, LeafRange leaves, int threads) {
    auto own = blocks;
    const auto begin = static_cast<std::size_t>(leaves.first);
    const auto size = static_cast<std::size_t>(leaves.second) - begin;
    own.targets = own.targets.subspan(begin, size);
    own.first = own.first.subspan(begin, size + 1);
    pairs_ = count_pairs(own, threads);
    computed_pairs_ = static_cast<double>(pairs_);
    if (!blocks.own) return;
    pairs_ *= 2; // lists name a pair of blocks once
    for (const auto block : own.targets) pairs_ -= std::int64_t{block.size()} * (block.size() - 1);
}

// Lists of mutual blocks name a pair once; these name it with both.
const OneSidedBlocks& NearBlocks::from_both_sides() {
    if (!tree_->self()) return std::get<OneSidedBlocks>(blocks_);
    if (both_sides_) return *both_sides_;
    const auto sources = source_blocks(*tree_, lists_->leaves, 1);
    BlockLists lists{.targets = sources,
                     .sources = sources,
                     .first = lists_->direct.first,
                     .partners = lists_->direct.partners,
                     .own = true};
    const auto both = both_halves(lists);
    lists.first = both.first;
    lists.partners = both.partners;
    return both_sides_.emplace(lists);
}

void NearBlocks::sum(const BlockSumTask& task) {
    if (auto begun = begin(task)) end(*begun);
}

std::optional<MutualBlocks::Begun> NearBlocks::begin(const BlockSumTask& task) {
    if (needs_whole_loop(task.outputs, task.sources)) {
        from_both_sides().sum(task);
    } else if (const auto* mutual = std::get_if<MutualBlocks>(&blocks_)) {
        if (task.ranks != nullptr) return mutual->begin(task);
        mutual->sum(task);
    } else {
        std::get<OneSidedBlocks>(blocks_).sum(task);
    }
    return std::nullopt;
}

std::vector<std::int32_t> part_starts(const Octree& tree, std::span<const std::int32_t> leaves) {
    if (tree.self()) return mutual_groups(source_blocks(tree, leaves, 1), tree.source_count());
    std::vector<std::int32_t> all(leaves.size() + 1);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::vector<double> pairs_of_leaves(const Octree& tree, const NearLists& lists, LeafRange leaves) {
    std::vector<double> out;
    out.reserve(static_cast<std::size_t>(leaves.second - leaves.first));
    const auto sources_of = [&](std::size_t leaf) {
        return static_cast<double>(tree.cell(lists.leaves[leaf]).sources.size());
    };
    for (auto leaf = static_cast<std::size_t>(leaves.first); leaf < static_cast<std::size_t>(leaves.second);
         ++leaf) {
        double sources = tree.self() ? sources_of(leaf) : 0.0;
        for (auto k = lists.direct.first[leaf]; k < lists.direct.first[leaf + 1]; ++k)
            sources +=
                sources_of(static_cast<std::size_t>(lists.direct.partners[static_cast<std::size_t>(k)]));
        out.push_back(sources * tree.cell(lists.leaves[leaf]).targets.size());
    }
    return out;
}

} // namespace farfield
