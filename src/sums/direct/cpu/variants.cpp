#include "sums/direct/cpu/variants.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "sums/direct/cpu/block_function.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/direct/cpu/scalar_rungs.h"
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/direct/cpu/tournament.h"

#include <farfield/error.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace farfield {
namespace {

bool stopped(const VariantTask& task) { return task.watch != nullptr && task.watch->stopped(); }

void tell(const VariantTask& task, std::int64_t targets, std::int64_t sources) {
    if (task.watch != nullptr) task.watch->done(static_cast<double>(targets) * static_cast<double>(sources));
}

OneSidedTile whole_sum(const VariantTask& task) {
    return {.targets = task.targets,
            .sources = task.sources,
            .target_begin = 0,
            .target_end = task.targets.count,
            .source_begin = 0,
            .source_end = task.sources.count,
            .self = task.self,
            .softening2 = task.softening * task.softening,
            .sums = task.sums};
}

int rank_count(const VariantTask& task) { return task.ranks != nullptr ? task.ranks->size() : 1; }
int own_rank(const VariantTask& task) { return task.ranks != nullptr ? task.ranks->rank() : 0; }

/// The targets of a rank: whole tasks, but for the last.
std::pair<std::int64_t, std::int64_t> targets_of_rank(const VariantTask& task, int rank) {
    const auto count = task.targets.count;
    const auto [begin, end] =
        tasks_of_rank((count + targets_of_a_task - 1) / targets_of_a_task, rank, rank_count(task));
    return {std::min(begin * targets_of_a_task, count), std::min(end * targets_of_a_task, count)};
}

// Targets do not depend on each other: ranks divide them, and exchange the rows.
template <class Act>
void run_targets(const VariantTask& task, int threads, const Act& act) {
    const auto [first, last] = targets_of_rank(task, own_rank(task));
    parallel_for(threads, (last - first + targets_of_a_task - 1) / targets_of_a_task,
                 [&, first = first, last = last](std::int64_t number) {
                     if (stopped(task)) return;
                     const auto begin = first + number * targets_of_a_task;
                     const auto end = std::min(begin + targets_of_a_task, last);
                     act(begin, end);
                     tell(task, end - begin, task.sources.count);
                 });
    if (task.ranks == nullptr) return;
    std::vector<RowRanges> parts;
    parts.reserve(static_cast<std::size_t>(task.ranks->size()));
    for (int rank = 0; rank < task.ranks->size(); ++rank) parts.push_back({targets_of_rank(task, rank)});
    gather_rows(*task.ranks, SumRows(task.sums), parts);
}

void play(const VariantTask& task, std::int64_t block_size, const TournamentMoves& moves) {
    const auto n = task.sources.count;
    const Tournament tournament((n + block_size - 1) / block_size);
    if (task.ranks == nullptr) return play_tournament(tournament, task.threads, moves);
    play_tournament_of_ranks(
        *task.ranks, tournament, task.threads, moves,
        {.sums = &task.sums, .points = n, .block_size = block_size}, [&] { return stopped(task); },
        [&] {
            if (task.watch != nullptr) task.watch->give_up();
        });
}

void run_simd(const VariantTask& task) {
    const auto function = FF_ISA_FUNCTION(ff_one_sided, task.isa);
    const auto precision = task.precision;
    run_targets(task, task.threads, [&](std::int64_t begin, std::int64_t end) {
        auto tile = whole_sum(task);
        tile.target_begin = begin;
        tile.target_end = end;
        function(precision, task.outputs, &tile);
    });
}

void run_symmetric(const VariantTask& task) {
    const auto one_sided = FF_ISA_FUNCTION(ff_one_sided, task.isa);
    const auto mutual = FF_ISA_FUNCTION(ff_mutual, task.isa);
    const auto precision = task.precision;
    const auto n = task.sources.count;
    const auto size = mutual_block_size(n);
    const auto end_of = [&](std::int64_t block) { return std::min((block + 1) * size, n); };
    const auto own = [&](std::int64_t block) {
        if (stopped(task)) return;
        auto tile = whole_sum(task);
        tile.target_begin = tile.source_begin = block * size;
        tile.target_end = tile.source_end = end_of(block);
        one_sided(precision, task.outputs, &tile);
        tell(task, end_of(block) - block * size, end_of(block) - block * size);
    };
    const auto meet = [&](std::int64_t a, std::int64_t b) {
        if (stopped(task)) return;
        const MutualTile tile{.points = task.sources,
                              .i_begin = a * size,
                              .i_end = end_of(a),
                              .j_begin = b * size,
                              .j_end = end_of(b),
                              .softening2 = task.softening * task.softening,
                              .sums = task.sums};
        mutual(precision, task.outputs, &tile);
        tell(task, 2 * (tile.i_end - tile.i_begin), tile.j_end - tile.j_begin);
    };
    play(task, size, {.own = own, .meet = meet});
}

// A block of targets with itself, without the points' action on themselves, and with all others.
template <class Act>
void run_blocks(const VariantTask& task, const Act& act) {
    const auto index = [](std::int64_t point) { return static_cast<std::int32_t>(point); };
    const auto n = task.sources.count;
    run_targets(task, task.threads, [&](std::int64_t begin, std::int64_t end) {
        const BlockRange block{index(begin), index(end)};
        const BlockSource of_self[] = {
            {.range = block}, {.range = {0, block.begin}}, {.range = {block.end, index(n)}}};
        const BlockSource all{.range = {0, index(n)}};
        const BlockTile tile{.targets = task.targets,
                             .sources = task.sources,
                             .block = block,
                             .sources_of_block = task.self ? of_self : &all,
                             .source_count = task.self ? 3 : 1,
                             .own = task.self,
                             .softening2 = task.softening * task.softening,
                             .sigma = task.sigma,
                             .sums = task.sums};
        act(tile);
    });
}

// Second derivatives and dipoles.
void run_whole(const VariantTask& task) {
    const auto function = FF_ISA_FUNCTION(ff_whole, task.isa);
    run_blocks(task, [&](const BlockTile& tile) { function(task.precision, &tile); });
}

// Each pair of blocks meets once.
void run_symmetric_in_plane(const VariantTask& task) {
    const auto function = block_function(task.loop, task.sigma, task.isa);
    const auto n = task.sources.count;
    const auto size = mutual_block_size(n);
    const auto block = [&](std::int64_t number) {
        return BlockRange{static_cast<std::int32_t>(number * size),
                          static_cast<std::int32_t>(std::min((number + 1) * size, n))};
    };
    const auto meet = [&](std::int64_t a, std::int64_t b) {
        if (stopped(task)) return;
        const BlockSource source{.range = block(b), .sums_begin = block(b).begin};
        const BlockTile tile{.targets = task.sources,
                             .sources = task.sources,
                             .block = block(a),
                             .sources_of_block = &source,
                             .source_count = 1,
                             .own = a == b,
                             .mutual = true,
                             .sigma = task.sigma,
                             .sums = task.sums};
        function(task.precision, task.outputs, &tile);
        tell(task, (a == b ? 1 : 2) * std::int64_t{block(a).size()}, block(b).size());
    };
    play(task, size, {.own = [&](std::int64_t a) { meet(a, a); }, .meet = meet});
}

void run_in_plane(const VariantTask& task) {
    if (task.variant == Variant::symmetric) return run_symmetric_in_plane(task);
    const auto function = block_function(task.loop, task.sigma, task.isa);
    run_blocks(task, [&](const BlockTile& tile) { function(task.precision, task.outputs, &tile); });
}

// One thread, whatever was asked for.
void run_scalar_rung(const VariantTask& task) {
    const auto rung = task.variant == Variant::naive ? naive_sum : soa_sum;
    if (task.ranks == nullptr) return rung(task.precision, task.outputs, whole_sum(task), task.watch);
    run_targets(task, 1, [&](std::int64_t begin, std::int64_t end) {
        auto tile = whole_sum(task);
        tile.target_begin = begin;
        tile.target_end = end;
        rung(task.precision, task.outputs, tile, nullptr);
    });
}

// Of the work, about.
double share_of_rank(const VariantTask& task) {
    if (task.ranks == nullptr) return 1.0;
    const auto [begin, end] = targets_of_rank(task, task.ranks->rank());
    return static_cast<double>(end - begin) /
           static_cast<double>(std::max<std::int64_t>(task.targets.count, 1));
}

} // namespace

Variant fastest_variant(bool self, std::int64_t sources) {
    return self && sources >= 1024 ? Variant::symmetric : Variant::simd;
}

void run_variant(const VariantTask& task) {
    if (task.targets.count == 0) return;
    if (task.loop != PairLoop::inverse_distance) return run_in_plane(task);
    if (needs_whole_loop(task.outputs, task.sources)) return run_whole(task);
    switch (task.variant) {
    case Variant::naive:
    case Variant::soa:
        return run_scalar_rung(task);
    case Variant::symmetric:
        return run_symmetric(task);
    case Variant::automatic:
    case Variant::simd:
        return run_simd(task);
    default:
        throw InternalError("a rung for GPUs reached the CPU");
    }
}

void run_watched(VariantTask task, const SumHooks& hooks) {
    if (task.outputs == 0) return;
    const double pairs = static_cast<double>(task.targets.count) * static_cast<double>(task.sources.count);
    WorkWatch watch(share_of_rank(task) * pairs, hooks.progress, hooks.stop_requested);
    task.watch = &watch;
    run_variant(task);
    if (comm::any_rank(task.ranks, watch.stopped())) throw Interrupted("the sum was given up before its end");
}

} // namespace farfield
