#include "sums/tree/dimension.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace farfield {
namespace {

using Keys = RawVector<std::uint64_t>;

// The end of the run of equal prefixes that begins at `begin`: steps of 1, 2, 4, … and a search in the last.
std::size_t run_end(const Keys& keys, std::size_t begin, int shift) {
    const auto prefix = keys[begin] >> shift;
    std::size_t step = 1;
    while (begin + step < keys.size() && keys[begin + step] >> shift == prefix) step *= 2;
    const auto at = [&](std::size_t place) { return keys.begin() + static_cast<std::ptrdiff_t>(place); };
    const auto end = std::partition_point(at(begin + step / 2), at(std::min(begin + step, keys.size())),
                                          [&](std::uint64_t key) { return key >> shift == prefix; });
    return static_cast<std::size_t>(end - keys.begin());
}

/// Points in a cell, whose keys have this prefix.
struct Run {
    std::uint64_t prefix = 0;
    std::int64_t points = 0;
};

std::int64_t pairs_of(std::int64_t points) { return points * (points - 1); }

/// Directed pairs of points that share a cell.
std::int64_t pairs_in_cells(const Keys& keys, int shift, int threads) {
    const auto pairs = parallel_results(threads, keys.size(), [&](std::size_t begin, std::size_t end) {
        std::int64_t sum = 0;
        auto first = begin; // of the first run that begins here
        if (begin > 0 && keys[begin - 1] >> shift == keys[begin] >> shift)
            first = run_end(keys, begin, shift);
        while (first < end) {
            const auto behind = run_end(keys, first, shift);
            sum += pairs_of(static_cast<std::int64_t>(behind - first));
            first = behind;
        }
        return sum;
    });
    return std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0});
}

bool is_before(const Run& a, const Run& b) { return a.prefix < b.prefix; }

// Each rank's runs are in order already.
void merge_rising_parts(std::vector<Run>& runs) {
    for (auto sorted = std::is_sorted_until(runs.begin(), runs.end(), is_before); sorted != runs.end();) {
        const auto next = std::is_sorted_until(sorted, runs.end(), is_before);
        std::inplace_merge(runs.begin(), sorted, next, is_before);
        sorted = next;
    }
}

/// The keys of ranks, each from the lowest to the highest.
class KeysOfRanks {
public:
    KeysOfRanks(comm::Transport& ranks, const Keys& keys) : rank_(static_cast<std::size_t>(ranks.rank())) {
        const Bounds mine = keys.empty() ? Bounds{1, 0} : Bounds{keys.front(), keys.back()};
        bounds_ = comm::all_values(ranks, mine);
    }

    /// Another rank may have keys with this prefix.
    [[nodiscard]] bool may_share(std::uint64_t prefix, int shift) const {
        for (std::size_t r = 0; r < bounds_.size(); ++r) {
            const auto& [low, high] = bounds_[r];
            if (r != rank_ && low <= high && low >> shift <= prefix && prefix <= high >> shift) return true;
        }
        return false;
    }

private:
    struct Bounds {
        std::uint64_t low = 0, high = 0;
    };
    std::size_t rank_;
    std::vector<Bounds> bounds_;
};

/// The same of all ranks' points. Of a cell that several may have points in, one of them counts all.
std::int64_t pairs_in_cells(comm::Transport& ranks, const KeysOfRanks& bounds, const Keys& keys, int shift) {
    constexpr int tag = 102;
    constexpr std::uint64_t mix = 0x9e3779b97f4a7c15; // cells that lie together go to different ranks
    std::vector<std::vector<Run>> shared(static_cast<std::size_t>(ranks.size()));
    std::int64_t sum = 0;
    for (std::size_t first = 0; first < keys.size();) {
        const auto end = run_end(keys, first, shift);
        const Run run{keys[first] >> shift, static_cast<std::int64_t>(end - first)};
        if (bounds.may_share(run.prefix, shift))
            shared[(run.prefix * mix >> 32U) % shared.size()].push_back(run);
        else
            sum += pairs_of(run.points);
        first = end;
    }
    auto all = comm::exchanged(ranks, shared, tag);
    merge_rising_parts(all);
    for (std::size_t n = 0; n < all.size();) {
        Run cell = all[n];
        while (++n < all.size() && all[n].prefix == cell.prefix) cell.points += all[n].points;
        sum += pairs_of(cell.points);
    }
    return comm::sum_of_ranks(ranks, sum);
}

} // namespace

double dimension_of(const Keys& keys, int finest, double others, comm::Transport* ranks, int threads) {
    constexpr double space = 3.0;
    const auto mine = static_cast<std::int64_t>(keys.size());
    const auto points = ranks != nullptr ? comm::sum_of_ranks(*ranks, mine) : mine;
    if (points == 0) return space;
    std::optional<KeysOfRanks> bounds;
    if (ranks != nullptr) bounds.emplace(*ranks, keys);
    double before = 0.0;
    for (int level = 0; level <= finest; ++level) {
        const int shift = 3 * (finest - level);
        const auto pairs = ranks != nullptr ? pairs_in_cells(*ranks, *bounds, keys, shift)
                                            : pairs_in_cells(keys, shift, threads);
        const double found = static_cast<double>(pairs) / static_cast<double>(points); // others of a point
        if (found <= others)
            return before > 0.0 && found > 0.0 ? std::min(space, std::log2(before / found)) : space;
        before = found;
    }
    return space;
}

} // namespace farfield
