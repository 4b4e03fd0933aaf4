// Lags from dependences, and the two phases of a pass.
#include "stencil/runtime/cpu/wavefront.h"

#include <algorithm>
#include <limits>

namespace farfield::stencil::cpu {
namespace {

/// An entry must do slab s after an earlier one did slabs s + first to s + last.
struct Distance {
    int first = std::numeric_limits<int>::max();
    int last = std::numeric_limits<int>::min();
    bool any() const { return first <= last; }
};

Distance distance(const Entry& earlier, const Entry& later) {
    Distance d;
    for (const auto& before : earlier.touches)
        for (const auto& after : later.touches) {
            if (before.memory != after.memory || (!before.writes && !after.writes)) continue;
            d.first = std::min(d.first, after.first - before.last);
            d.last = std::max(d.last, after.last - before.first);
        }
    return d;
}

} // namespace

std::optional<Wavefront> Wavefront::plan(const std::vector<Entry>& entries, const std::vector<Pair>& pairs,
                                         const std::vector<std::int64_t>& costs, int threads) {
    const auto slabs = static_cast<std::int64_t>(costs.size());
    Wavefront front;
    front.slabs_ = slabs;
    const auto count = entries.size();
    front.lags_.assign(count, 0);
    front.recedes_.assign(count, 0);
    int reach = 1;
    for (std::size_t j = 0; j < count; ++j) {
        front.around_ = front.around_ || entries[j].around;
        front.cells_.push_back({entries[j].first_slab, entries[j].last_slab});
        for (std::size_t i = 0; i < j; ++i) {
            const auto d = distance(entries[i], entries[j]);
            if (!d.any()) continue;
            front.lags_[j] = std::max(front.lags_[j], front.lags_[i] + d.last);
            front.recedes_[j] = std::max(front.recedes_[j], front.recedes_[i] - d.first);
            reach = std::max({reach, d.last, -d.first});
        }
    }
    const int widest_lag = count == 0 ? 0 : *std::max_element(front.lags_.begin(), front.lags_.end());
    const int widest = count == 0 ? 0 : *std::max_element(front.recedes_.begin(), front.recedes_.end());
    // A seam must not meet the next one, nor look over it.
    const std::int64_t least = std::int64_t{widest_lag} + widest + reach;
    if (front.around_ && slabs < least) return std::nullopt;
    const auto fitting = slabs / std::max<std::int64_t>(least, 1);
    front.cut(costs, std::clamp<std::int64_t>(fitting, 1, threads), least);

    std::vector<Pair> joined;
    joined.reserve(pairs.size());
    for (const auto& pair : pairs)
        joined.push_back(front.together(pair.first, pair.second) ? pair : Pair{count, count, {}});
    const auto blocks = front.cuts_.size() - 1;
    // What a seam does lies below cut + widest, what it looks at `reach` above that.
    for (std::size_t b = 0; b < blocks; ++b)
        front.blocks_.push_back(sweep_of(front.lanes_of(front.block_ranges(b), joined),
                                         front.cuts_[b] + widest + reach + widest_lag));
    for (std::size_t cut = 1; cut < blocks + (front.around_ ? 1 : 0); ++cut)
        front.seams_.push_back(sweep_of(front.lanes_of(front.seam_ranges(cut), joined), 0));
    return front;
}

// Blocks of equal cost, as far as each has at least `least` slabs.
void Wavefront::cut(const std::vector<std::int64_t>& costs, std::int64_t blocks, std::int64_t least) {
    std::int64_t total = 0;
    for (const auto cost : costs) total += cost;
    cuts_.assign(static_cast<std::size_t>(blocks) + 1, slabs_);
    cuts_[0] = 0;
    std::int64_t done = 0;
    std::int64_t block = 1;
    for (std::int64_t slab = 0; slab < slabs_ && block < blocks; ++slab) {
        done += costs[slab];
        for (; block < blocks && done * blocks >= total * block; ++block) cuts_[block] = slab + 1;
    }
    // With its seam a thread works up to where the next block's entries begin, which is above the cut.
    if (!around_)
        for (block = 1; block < blocks; ++block) cuts_[block] -= mean_recede();
    for (block = 1; block < blocks; ++block) cuts_[block] = std::max(cuts_[block], cuts_[block - 1] + least);
    for (block = blocks - 1; block > 0; --block)
        cuts_[block] = std::min(cuts_[block], cuts_[block + 1] - least);
}

std::int64_t Wavefront::mean_recede() const {
    std::int64_t sum = 0;
    std::int64_t slabs = 1;
    for (std::size_t i = 0; i < recedes_.size(); ++i) {
        sum += recedes_[i] * (cells_[i].last - cells_[i].first);
        slabs += cells_[i].last - cells_[i].first;
    }
    return sum / slabs;
}

bool Wavefront::together(std::size_t first, std::size_t last) const {
    for (auto i = first + 1; i <= last; ++i)
        if (lags_[i] != lags_[first] || recedes_[i] != recedes_[first]) return false;
    return true;
}

std::vector<IndexRange> Wavefront::block_ranges(std::size_t block) const {
    std::vector<IndexRange> ranges(lags_.size());
    const bool cut_below = around_ || block > 0;
    const bool cut_above = around_ || block + 2 < cuts_.size();
    for (std::size_t i = 0; i < ranges.size(); ++i)
        ranges[i] = {cuts_[block] + (cut_below ? recedes_[i] : 0),
                     cuts_[block + 1] - (cut_above ? lags_[i] : 0)};
    return ranges;
}

std::vector<IndexRange> Wavefront::seam_ranges(std::size_t cut) const {
    std::vector<IndexRange> ranges(lags_.size());
    for (std::size_t i = 0; i < ranges.size(); ++i)
        ranges[i] = {cuts_[cut] - lags_[i], cuts_[cut] + recedes_[i]};
    return ranges;
}

std::vector<Wavefront::Lane> Wavefront::lanes_of(const std::vector<IndexRange>& ranges,
                                                 const std::vector<Pair>& pairs) const {
    std::vector<Lane> lanes;
    const auto add = [&](std::size_t item, std::int64_t first, std::int64_t last, int lag,
                         std::int64_t turn) {
        if (first < last) lanes.push_back({static_cast<int>(item), first + lag, last + lag, -lag - turn});
    };
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const auto pair = std::find_if(pairs.begin(), pairs.end(),
                                       [&](const Pair& p) { return p.first == i || p.second == i; });
        for (const auto turn : {-slabs_, std::int64_t{0}, slabs_}) {
            // The slabs that are `turn` away from those of the grid, where they have cells.
            const auto first = std::max(ranges[i].first, cells_[i].first + turn);
            const auto last = std::min(ranges[i].last, cells_[i].last + turn);
            if (pair == pairs.end()) {
                add(i, first, last, lags_[i], turn);
                continue;
            }
            // The first of a pair stands for both, but where others come between.
            const auto above = std::clamp(pair->apart.first + turn, first, std::max(first, last));
            const auto below = std::clamp(pair->apart.last + turn, above, std::max(above, last));
            const auto both = ranges.size() + static_cast<std::size_t>(pair - pairs.begin());
            if (pair->first == i) add(both, first, above, lags_[i], turn);
            add(i, above, below, lags_[i], turn);
            if (pair->first == i) add(both, below, last, lags_[i], turn);
        }
    }
    return lanes;
}

Wavefront::Sweep Wavefront::sweep_of(const std::vector<Lane>& lanes, std::int64_t open) {
    std::vector<std::int64_t> turns{open};
    for (const auto& lane : lanes) {
        turns.push_back(lane.first);
        turns.push_back(lane.last);
    }
    std::sort(turns.begin(), turns.end());
    turns.erase(std::unique(turns.begin(), turns.end()), turns.end());
    Sweep sweep;
    for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
        if (turns[i] == open) sweep.open = sweep.phases.size();
        Phase phase{turns[i], turns[i + 1], sweep.active.size(), 0};
        for (const auto& lane : lanes)
            if (lane.first <= phase.first && phase.last <= lane.last)
                sweep.active.push_back({lane.item, lane.offset});
        phase.end = sweep.active.size();
        if (phase.begin < phase.end) sweep.phases.push_back(phase);
    }
    if (turns.back() == open) sweep.open = sweep.phases.size();
    return sweep;
}

} // namespace farfield::stencil::cpu
