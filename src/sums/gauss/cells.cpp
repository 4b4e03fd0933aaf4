#include "sums/gauss/cells.h"

#include "backend/threads/parallel.h"
#include "base/stopwatch.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace farfield {
namespace {

/// The next combination of offsets of all axes but the first; false after the last.
bool next_row(std::array<std::int64_t, most_dimensions>& offset,
              const std::array<std::int64_t, most_dimensions>& reach, int dimension) {
    for (std::size_t k = 1; k < static_cast<std::size_t>(dimension); ++k) {
        if (++offset[k] <= reach[k]) return true;
        offset[k] = -reach[k];
    }
    return false;
}

} // namespace

GaussCells::GaussCells(const SumProblem& problem, Isa isa, int threads)
    : problem_(problem), threads_(threads), loops_(problem, isa, threads) {}

void GaussCells::set_points(const GaussShape& shape, const GaussPointSets& points) {
    cutoff_ = shape.cutoff;
    sigma_ = points.frame.sigma;
    lattice_.assign(1, GaussLattice(points.extent, points.frame, problem_.dimension, shape.side));
    sources_ = lattice_.front().sorted(points.sources, points.frame, threads_);
    if (!problem_.self) targets_ = lattice_.front().sorted(points.targets, points.frame, threads_);
    loops_.set_points(points.sources, points.targets, points.frame, sources_.from, targets_.from);
    find_blocks();
}

void GaussCells::find_blocks() {
    const auto& keys = problem_.self ? sources_.keys : targets_.keys;
    blocks_.clear();
    cells_ = 0;
    for (std::size_t begin = 0; begin < keys.size();) {
        auto end = begin + 1;
        while (end < keys.size() && keys[end] == keys[begin]) ++end;
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
                for (const auto& range : sources_near(blocks_[b].key))
                    pairs += static_cast<double>(range.size()) * blocks_[b].targets.size();
            return pairs;
        },
        256);
    pairs_ = 0.0;
    for (const double part : parts) pairs_ += part;
}

// Cells of a row along the first axis lie one after the other, and so do their points.
std::vector<BlockRange> GaussCells::sources_near(std::uint64_t key) const {
    const auto& lattice = lattice_.front();
    const auto box = lattice.box_of(key);
    std::array<std::int64_t, most_dimensions> reach{}, offset{};
    for (std::size_t k = 0; k < static_cast<std::size_t>(lattice.dimension); ++k) {
        reach[k] = std::min<std::int64_t>(lattice.count[k],
                                          static_cast<std::int64_t>(std::ceil(cutoff_ / lattice.side[k])));
        offset[k] = -reach[k];
    }
    std::vector<BlockRange> ranges;
    const auto place = [&](std::uint64_t at) {
        return static_cast<std::int32_t>(std::lower_bound(sources_.keys.begin(), sources_.keys.end(), at) -
                                         sources_.keys.begin());
    };
    do {
        double apart2 = 0.0;
        bool inside = true;
        std::uint64_t row = 0;
        for (auto k = static_cast<std::size_t>(lattice.dimension); k-- > 1;) {
            const auto at = box[k] + offset[k];
            inside = inside && at >= 0 && at < lattice.count[k];
            const double gap = std::max<double>(0.0, std::abs(static_cast<double>(offset[k])) - 1.0);
            apart2 += gap * gap * lattice.side[k] * lattice.side[k];
            row = row * static_cast<std::uint64_t>(lattice.count[k]) + static_cast<std::uint64_t>(at);
        }
        const double left2 = cutoff_ * cutoff_ - apart2;
        if (!inside || left2 < 0.0) continue;
        const auto along = static_cast<std::int64_t>(std::sqrt(left2) / lattice.side[0]) + 1;
        const auto first = static_cast<std::uint64_t>(std::max<std::int64_t>(0, box[0] - along));
        const auto last = static_cast<std::uint64_t>(std::min(lattice.count[0] - 1, box[0] + along));
        row *= static_cast<std::uint64_t>(lattice.count[0]);
        const BlockRange range{place(row + first), place(row + last + 1)};
        if (range.size() > 0) ranges.push_back(range);
    } while (next_row(offset, reach, lattice.dimension));
    return ranges;
}

void GaussCells::add(std::span<const double> strengths, std::int64_t vectors, int exponent, GaussSums& sums,
                     std::vector<PassTime>& passes, WorkWatch& watch) {
    Stopwatch clock;
    loops_.set_strengths(strengths, vectors, exponent, sources_.from);
    parallel_for(threads_, static_cast<std::int64_t>(blocks_.size()), [&](std::int64_t b) {
        if (watch.stopped()) return;
        const auto& block = blocks_[static_cast<std::size_t>(b)];
        const auto ranges = sources_near(block.key);
        loops_.add(block.targets, ranges, sums);
        double pairs = 0.0;
        for (const auto& range : ranges) pairs += static_cast<double>(range.size()) * block.targets.size();
        watch.done(pairs);
    });
    passes = {{"pairs", clock.lap()}};
}

void GaussCells::describe(SumReport& report) const {
    report.fgt = {.strategy = GaussStrategy::pairs,
                  .cutoff = cutoff_ / sigma_,
                  .cells = cells_,
                  .near_pairs = static_cast<std::int64_t>(pairs_)};
}

} // namespace farfield
