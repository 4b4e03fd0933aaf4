#include "sums/fmm/common/near_blocks.h"

#include "backend/threads/parallel.h"

#include <numeric>

namespace farfield {

namespace {

std::vector<BlockRange> source_blocks(const Octree& tree, const NearLists& lists, int threads) {
    constexpr std::size_t leaves_a_task = 2048;
    std::vector<BlockRange> out(lists.leaves.size());
    parallel_parts(
        threads, out.size(),
        [&](std::size_t begin, std::size_t end) {
            for (auto n = begin; n < end; ++n) out[n] = tree.cell(lists.leaves[n]).sources;
        },
        leaves_a_task);
    return out;
}

} // namespace

void NearBlocks::make(const Octree& tree, const NearLists& lists, int threads) {
    tree_ = &tree;
    lists_ = &lists;
    both_sides_.reset();
    const auto sources = source_blocks(tree, lists, threads);
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
    blocks_.emplace<MutualBlocks>(blocks, tree.source_count(), threads);
}

// Lists of mutual blocks name a pair once; these name it with both.
const OneSidedBlocks& NearBlocks::from_both_sides() {
    if (!tree_->self()) return std::get<OneSidedBlocks>(blocks_);
    if (both_sides_) return *both_sides_;
    const auto sources = source_blocks(*tree_, *lists_, 1);
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

std::vector<std::int32_t> part_starts(const Octree& tree, const NearLists& lists) {
    if (tree.self()) return mutual_groups(source_blocks(tree, lists, 1), tree.source_count());
    std::vector<std::int32_t> all(lists.leaves.size() + 1);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::vector<double> pairs_of_leaves(const Octree& tree, const NearLists& lists) {
    std::vector<double> out;
    out.reserve(lists.leaves.size());
    const auto sources_of = [&](std::size_t leaf) {
        return static_cast<double>(tree.cell(lists.leaves[leaf]).sources.size());
    };
    for (std::size_t leaf = 0; leaf < lists.leaves.size(); ++leaf) {
        double sources = tree.self() ? sources_of(leaf) : 0.0;
        for (auto k = lists.direct.first[leaf]; k < lists.direct.first[leaf + 1]; ++k)
            sources +=
                sources_of(static_cast<std::size_t>(lists.direct.partners[static_cast<std::size_t>(k)]));
        out.push_back(sources * tree.cell(lists.leaves[leaf]).targets.size());
    }
    return out;
}

} // namespace farfield
