#include "sums/fmm/common/near_blocks.h"

#include "backend/threads/parallel.h"

#include <numeric>

namespace farfield {

std::vector<BlockRange> NearBlocks::source_blocks(int threads) const {
    constexpr std::size_t leaves_a_task = 2048;
    std::vector<BlockRange> out(lists_->leaves.size());
    parallel_parts(
        threads, out.size(),
        [&](std::size_t begin, std::size_t end) {
            for (auto n = begin; n < end; ++n) out[n] = tree_->cell(lists_->leaves[n]).sources;
        },
        leaves_a_task);
    return out;
}

void NearBlocks::make(const Octree& tree, const NearLists& lists, int threads) {
    tree_ = &tree;
    lists_ = &lists;
    both_sides_.reset();
    const auto sources = source_blocks(threads);
    std::vector<BlockRange> targets;
    if (!tree.self())
        for (const auto leaf : lists.leaves) targets.push_back(tree.cell(leaf).targets);
    const BlockLists blocks{.targets = tree.self() ? sources : targets,
                            .sources = sources,
                            .first = lists.direct.first,
                            .partners = lists.direct.partners,
                            .own = tree.self()};
    pairs_ = count_pairs(blocks, threads);
    computed_pairs_ = static_cast<double>(pairs_);
    if (!tree.self()) {
        blocks_.emplace<OneSidedBlocks>(blocks);
        return;
    }
    pairs_ *= 2; // lists name a pair of blocks once
    for (const auto block : sources) pairs_ -= std::int64_t{block.size()} * (block.size() - 1);
    blocks_.emplace<MutualBlocks>(blocks, static_cast<std::int64_t>(tree.sources().from.size()), threads);
}

// Lists of mutual blocks name a pair once; these name it with both.
const OneSidedBlocks& NearBlocks::from_both_sides() {
    if (!tree_->self()) return std::get<OneSidedBlocks>(blocks_);
    if (both_sides_) return *both_sides_;
    const auto sources = source_blocks(1);
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
    if (needs_whole_loop(task.outputs, task.sources))
        from_both_sides().sum(task);
    else if (const auto* mutual = std::get_if<MutualBlocks>(&blocks_))
        mutual->sum(task);
    else
        std::get<OneSidedBlocks>(blocks_).sum(task);
}

std::vector<std::int32_t> NearBlocks::part_starts() const {
    if (const auto* mutual = std::get_if<MutualBlocks>(&blocks_)) {
        const auto starts = mutual->part_starts();
        return {starts.begin(), starts.end()};
    }
    std::vector<std::int32_t> all(lists_->leaves.size() + 1);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::vector<double> NearBlocks::pairs_of_leaves() const {
    std::vector<double> out;
    out.reserve(lists_->leaves.size());
    const auto sources_of = [&](std::size_t leaf) {
        return static_cast<double>(tree_->cell(lists_->leaves[leaf]).sources.size());
    };
    for (std::size_t leaf = 0; leaf < lists_->leaves.size(); ++leaf) {
        double sources = tree_->self() ? sources_of(leaf) : 0.0;
        for (auto k = lists_->direct.first[leaf]; k < lists_->direct.first[leaf + 1]; ++k)
            sources +=
                sources_of(static_cast<std::size_t>(lists_->direct.partners[static_cast<std::size_t>(k)]));
        out.push_back(sources * tree_->cell(lists_->leaves[leaf]).targets.size());
    }
    return out;
}

} // namespace farfield
