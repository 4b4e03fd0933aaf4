#include "sums/gauss/cells.h"

#include "backend/threads/parallel.h"
#include "base/stopwatch.h"

#include <algorithm>

namespace farfield {

GaussCells::GaussCells(const SumProblem& problem, Isa isa, int threads, comm::Transport* ranks)
    : problem_(problem), ranks_(ranks), turns_(nullptr), threads_(threads), loops_(problem, isa, threads) {}

void GaussCells::set_points(const GaussShape& shape, const GaussPointSets& points) {
    sigma_ = points.frame.sigma;
    turns_ = TurnsOfRanks(points.shared ? ranks_ : nullptr);
    near_ = NearCells(shape, points.extent, points.frame, problem_.dimension);
    sources_ = near_.lattice().sorted(points.sources, points.frame, threads_);
    if (!problem_.self) targets_ = near_.lattice().sorted(points.targets, points.frame, threads_);
    loops_.set_points(points.sources, points.targets, points.frame, sources_.from, targets_.from);
    find_blocks(points.own);
}

void GaussCells::find_blocks(const std::optional<BlockRange>& own) {
    const auto& keys = problem_.self ? sources_.keys : targets_.keys;
    const auto stop = own ? static_cast<std::size_t>(own->end) : keys.size();
    blocks_.clear();
    cells_ = 0;
    for (auto begin = static_cast<std::size_t>(own ? own->begin : 0); begin < stop;) {
        auto end = begin + 1;
        while (end < stop && keys[end] == keys[begin]) ++end;
        ++cells_;
        for (auto first = static_cast<std::int32_t>(begin); first < static_cast<std::int32_t>(end);
             first += most_block_targets)
            blocks_.push_back(
                {{first, std::min(static_cast<std::int32_t>(end), first + most_block_targets)}, keys[begin]});
        begin = end;
    }
    const auto parts = parallel_results(
        threads_, blocks_.size(),
        [&](std::size_t begin, std::size_t end) {
            double pairs = 0.0;
            for (auto b = begin; b < end; ++b)
                for (const auto& range : near_.sources(sources_.keys, blocks_[b].key))
                    pairs += static_cast<double>(range.size()) * blocks_[b].targets.size();
            return pairs;
        },
        256);
    pairs_ = 0.0;
    for (const double part : parts) pairs_ += part;
}

void GaussCells::add(std::span<const double> strengths, std::int64_t vectors, int exponent, GaussSums& sums,
                     std::vector<PassTime>& passes, WorkWatch& watch) {
    Stopwatch clock;
    loops_.set_strengths(strengths, vectors, exponent, sources_.from);
    parallel_for(threads_, static_cast<std::int64_t>(blocks_.size()), [&](std::int64_t b) {
        if (watch.stopped() || !turns_.is_mine(static_cast<std::size_t>(b))) return;
        const auto& block = blocks_[static_cast<std::size_t>(b)];
        const auto ranges = near_.sources(sources_.keys, block.key);
        loops_.add(block.targets, ranges, sums);
        double pairs = 0.0;
        for (const auto& range : ranges) pairs += static_cast<double>(range.size()) * block.targets.size();
        watch.done(pairs);
    });
    const auto points_of = [&](std::size_t b) -> const BlockRange& { return blocks_[b].targets; };
    turns_.gather(blocks_.size(), points_of, sums, watch);
    passes = {{"pairs", clock.lap()}};
}

void GaussCells::describe(SumReport& report) const {
    report.fgt = {.strategy = GaussStrategy::pairs,
                  .cutoff = near_.cutoff() / sigma_,
                  .cells = cells_,
                  .near_pairs = static_cast<std::int64_t>(pairs_)};
}

} // namespace farfield
