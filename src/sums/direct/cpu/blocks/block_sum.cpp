#include "sums/direct/cpu/blocks/block_sum.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "sums/direct/cpu/block_function.h"
#include "sums/direct/cpu/isa_function.h"

#include <algorithm>
#include <utility>

namespace farfield {
namespace {

/// A task is worth some ten microseconds, much more than it costs to hand out.
constexpr std::int64_t pairs_a_task = 1 << 17;

void clear(const TileSums& sums, std::int64_t begin, std::int64_t end) {
    const auto clear_one = [&](double* values) {
        if (values != nullptr) std::fill(values + begin, values + end, 0.0);
    };
    clear_one(sums.potential);
    clear_one(sums.potential_imaginary);
    for (double* values : sums.field) clear_one(values);
    for (double* values : sums.hessian) clear_one(values);
}

bool is_stopped(const BlockSumTask& task) { return task.watch != nullptr && task.watch->stopped(); }

/// Of a block with all its sources.
double pairs_of(const BlockTile& tile) {
    double sources = 0.0;
    for (std::int64_t s = 0; s < tile.source_count; ++s) sources += tile.sources_of_block[s].range.size();
    return sources * tile.block.size();
}

void keep_wanted(LoopOutputs outputs, TileSums& sums) {
    if ((outputs & potential_only) == 0) sums.potential = sums.potential_imaginary = nullptr;
    if ((outputs & field_only) == 0)
        for (auto& component : sums.field) component = nullptr;
    if ((outputs & hessian_too) == 0)
        for (auto& component : sums.hessian) component = nullptr;
}

/// [begin, end) of the blocks that this rank sums.
std::pair<std::int32_t, std::int32_t> own_blocks(const BlockSumTask& task, std::size_t blocks) {
    if (task.rank_blocks.empty()) return {0, static_cast<std::int32_t>(blocks)};
    const auto rank = static_cast<std::size_t>(task.ranks->rank());
    return {task.rank_blocks[rank], task.rank_blocks[rank + 1]};
}

BlockTile tile_of(const BlockSumTask& task, bool own, bool mutual) {
    return {.targets = task.targets,
            .sources = task.sources,
            .own = own,
            .mutual = mutual,
            .softening2 = task.softening * task.softening,
            .sigma = task.sigma,
            .sums = task.sums};
}

} // namespace

OneSidedBlocks::OneSidedBlocks(const BlockLists& lists)
    : blocks_(lists.targets.begin(), lists.targets.end()), own_(lists.own) {
    sources_first_.push_back(0);
    tasks_.push_back(0);
    std::int64_t pairs = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        const auto first = sources_.size();
        std::int64_t sources = 0;
        const auto append = [&](BlockRange range) {
            sources += range.size();
            if (range.size() == 0) return;
            if (sources_.size() > first && sources_.back().range.end == range.begin)
                sources_.back().range.end = range.end;
            else
                sources_.push_back({.range = range});
        };
        if (own_) append(blocks_[b]);
        for (const auto partner : lists.of(b)) append(lists.sources[static_cast<std::size_t>(partner)]);
        sources_first_.push_back(static_cast<std::int64_t>(sources_.size()));
        pairs += sources * blocks_[b].size();
        if (pairs < pairs_a_task && b + 1 < blocks_.size()) continue;
        tasks_.push_back(static_cast<std::int32_t>(b + 1));
        pairs = 0;
    }
}

void OneSidedBlocks::sum(const BlockSumTask& task) const {
    const auto usual = block_function(task.loop, task.sigma, task.isa);
    const auto rare = FF_ISA_FUNCTION(ff_whole, task.isa);
    const auto act = [&](const BlockTile& tile) {
        if (needs_whole_loop(task.outputs, task.sources))
            rare(task.precision, &tile);
        else
            usual(task.precision, task.outputs, &tile);
    };
    auto whole = tile_of(task, own_, false);
    keep_wanted(task.outputs, whole.sums);
    const auto own = own_blocks(task, blocks_.size());
    parallel_for(task.threads, static_cast<std::int64_t>(tasks_.size()) - 1, [&](std::int64_t number) {
        if (is_stopped(task)) return;
        const auto t = static_cast<std::size_t>(number);
        auto tile = whole;
        double pairs = 0.0;
        const auto begin = static_cast<std::size_t>(std::max(tasks_[t], own.first));
        const auto end = static_cast<std::size_t>(std::min(tasks_[t + 1], own.second));
        for (auto b = begin; b < end; ++b) {
            tile.block = blocks_[b];
            tile.sources_of_block = sources_.data() + sources_first_[b];
            tile.source_count = sources_first_[b + 1] - sources_first_[b];
            if (!task.adds) clear(tile.sums, tile.block.begin, tile.block.end);
            if (tile.block.size() > 0) act(tile);
            pairs += pairs_of(tile);
        }
        if (task.watch != nullptr) task.watch->done(pairs);
    });
}

MutualBlocks::MutualBlocks(const BlockLists& lists, std::int64_t points, int threads)
    : blocks_(lists.targets.begin(), lists.targets.end()), division_(divide_mutual(lists, points, threads)),
      own_(lists.own) {}

MutualBlocks::MutualBlocks(const BlockLists& lists, std::vector<std::int32_t> groups, int threads)
    : blocks_(lists.targets.begin(), lists.targets.end()),
      division_(divide_mutual(lists, std::move(groups), threads)), own_(lists.own) {}

// One thread does all that is done to the sums of a group's blocks and to its places apart.
void MutualBlocks::act(const BlockSumTask& task, const BlockTile& whole, std::size_t group) const {
    const auto function = block_function(task.loop, task.sigma, task.isa);
    double pairs = 0.0;
    const auto begin = static_cast<std::size_t>(division_.groups[group]);
    const auto end = static_cast<std::size_t>(division_.groups[group + 1]);
    for (auto b = begin; b < end; ++b) clear(whole.sums, blocks_[b].begin, blocks_[b].end);
    clear(whole.sums_apart, division_.group_apart[group], division_.group_apart[group + 1]);
    auto tile = whole;
    for (auto b = begin; b < end; ++b) {
        tile.block = blocks_[b];
        tile.sources_of_block = division_.sources.data() + division_.sources_first[b];
        tile.source_count = division_.sources_first[b + 1] - division_.sources_first[b];
        if (tile.block.size() > 0) function(task.precision, task.outputs, &tile);
        pairs += pairs_of(tile);
    }
    if (task.watch != nullptr) task.watch->done(pairs);
}

std::pair<std::int64_t, std::int64_t> MutualBlocks::own_groups(const BlockSumTask& task) const {
    const auto [own_begin, own_end] = own_blocks(task, blocks_.size());
    const auto& groups = division_.groups;
    const auto group_at = [&](std::int32_t block) {
        return std::lower_bound(groups.begin(), groups.end(), block) - groups.begin();
    };
    return {group_at(own_begin), group_at(own_end) - group_at(own_begin)};
}

MutualBlocks::Begun MutualBlocks::begin(const BlockSumTask& task) const {
    const auto apart_size = static_cast<std::size_t>(division_.points_apart);
    Begun begun{.task = task,
                .memory = RawVector<double>(5 * apart_size), // each group's thread first writes its part
                .apart = {},
                .exchange = {}};
    auto* const memory = begun.memory.data();
    auto whole = tile_of(task, own_, true);
    whole.sums_apart = {.potential = memory,
                        .field = {memory + apart_size, memory + 2 * apart_size, memory + 3 * apart_size},
                        .potential_imaginary = memory + 4 * apart_size};
    if (task.sums.potential_imaginary == nullptr) whole.sums_apart.potential_imaginary = nullptr;
    if (task.sums.field[2] == nullptr) whole.sums_apart.field[2] = nullptr; // in the plane
    keep_wanted(task.outputs, whole.sums);
    keep_wanted(task.outputs, whole.sums_apart);
    begun.apart = whole.sums_apart;
    const auto [first, count] = own_groups(task);
    parallel_apart(task.threads, count, [&, first = first](std::int64_t number) {
        if (!is_stopped(task)) act(task, whole, static_cast<std::size_t>(first + number));
    });
    if (!task.rank_blocks.empty()) begun.exchange = exchange_apart(task, begun.apart);
    return begun;
}

void MutualBlocks::end(Begun& begun) const {
    const auto& task = begun.task;
    if (begun.exchange) begun.exchange->end();
    if (is_stopped(task)) return;
    const auto& groups = division_.groups;
    const auto [first, count] = own_groups(task);
    parallel_for(task.threads, count, [&, first = first](std::int64_t number) {
        const auto g = static_cast<std::size_t>(first + number);
        for (auto b = groups[g]; b < groups[g + 1]; ++b)
            add_apart(task, begun.apart, static_cast<std::size_t>(b));
    });
}

// What the groups of one rank computed for blocks of another goes there, also where it is unfinished: no rank
// waits for one that has stopped.
std::unique_ptr<RowExchange> MutualBlocks::exchange_apart(const BlockSumTask& task,
                                                          const TileSums& apart) const {
    const auto rank = static_cast<std::size_t>(task.ranks->rank());
    const auto ranks = static_cast<std::size_t>(task.ranks->size());
    std::vector<RowRanges> to(ranks), from(ranks);
    for (std::size_t other = 0; other < ranks; ++other) {
        if (other == rank) continue;
        const auto blocks_of = [&](std::size_t r) {
            return std::pair{task.rank_blocks[r], task.rank_blocks[r + 1]};
        };
        to[other] = places_apart(division_, blocks_, blocks_of(rank), blocks_of(other));
        from[other] = places_apart(division_, blocks_, blocks_of(other), blocks_of(rank));
    }
    const SumRows rows(apart);
    return std::make_unique<RowExchange>(*task.ranks, rows, std::move(to), rows, std::move(from));
}

void MutualBlocks::add_apart(const BlockSumTask& task, const TileSums& apart, std::size_t block) const {
    const auto range = blocks_[block];
    const auto add = [&](const double* from, double* to) {
        if (from == nullptr) return;
        for (auto k = division_.apart_first[block]; k < division_.apart_first[block + 1]; ++k) {
            const double* part = from + division_.apart[static_cast<std::size_t>(k)];
            for (std::int32_t i = 0; i < range.size(); ++i) to[range.begin + i] += part[i];
        }
    };
    add(apart.potential, task.sums.potential);
    add(apart.potential_imaginary, task.sums.potential_imaginary);
    for (int k = 0; k < 3; ++k) add(apart.field[k], task.sums.field[k]);
}

} // namespace farfield
