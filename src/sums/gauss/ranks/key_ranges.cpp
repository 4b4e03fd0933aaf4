#include "sums/gauss/ranks/key_ranges.h"

#include "backend/comm/transport.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace farfield {
namespace {

/// The ranges between the cuts, which are rising.
std::vector<KeyRange> ranges_between(std::span<const std::uint64_t> cuts) {
    std::vector<KeyRange> out;
    std::uint64_t begin = 0;
    for (const auto cut : cuts) {
        out.push_back({begin, cut});
        begin = cut;
    }
    out.push_back({begin, std::numeric_limits<std::uint64_t>::max()});
    return out;
}

/// Of each place the largest number that a rank has.
std::vector<std::uint64_t> largest_of_ranks(comm::Transport& ranks, std::span<const std::uint64_t> mine) {
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks.size()), std::ssize(mine));
    const auto all = comm::all_gathered(ranks, mine, counts);
    std::vector<std::uint64_t> out(mine.size(), 0);
    for (std::size_t i = 0; i < all.size(); ++i)
        out[i % mine.size()] = std::max(out[i % mine.size()], all[i]);
    return out;
}

} // namespace

// Each cut is the least key that at least r/P of all keys are smaller than: by halves, all cuts at a time.
std::vector<KeyRange> ranges_of_equal_counts(comm::Transport& ranks, std::span<const std::uint64_t> sorted) {
    const auto count = static_cast<std::size_t>(ranks.size());
    const auto all = comm::sum_of_ranks(ranks, std::ssize(sorted));
    const std::uint64_t last = sorted.empty() ? 0 : sorted.back();
    const auto above = largest_of_ranks(ranks, {&last, 1}).front() + 1;
    std::vector<std::uint64_t> low(count - 1, 0), high(count - 1, above);
    while (low != high) {
        std::vector<std::uint64_t> middle(low.size());
        std::vector<std::int32_t> before(low.size());
        for (std::size_t r = 0; r < low.size(); ++r) {
            middle[r] = low[r] + (high[r] - low[r]) / 2;
            before[r] = static_cast<std::int32_t>(rows_in(sorted, {0, middle[r]}).size());
        }
        comm::add_over_ranks(ranks, before);
        for (std::size_t r = 0; r < low.size(); ++r) {
            const auto wanted = all * static_cast<std::int64_t>(r + 1) / static_cast<std::int64_t>(count);
            if (low[r] == high[r]) continue;
            if (before[r] >= wanted)
                high[r] = middle[r];
            else
                low[r] = middle[r] + 1;
        }
    }
    return ranges_between(low);
}

std::vector<KeyRange> ranges_of_equal_work(comm::Transport& ranks, std::span<const std::uint64_t> keys,
                                           std::span<const double> work) {
    double mine = 0.0;
    for (const double one : work) mine += one;
    const auto of_ranks = comm::all_values(ranks, mine);
    double before = 0.0, all = 0.0;
    for (std::size_t r = 0; r < of_ranks.size(); ++r) {
        if (r == static_cast<std::size_t>(ranks.rank())) before = all;
        all += of_ranks[r];
    }
    std::vector<double> middles; // a key goes where most of its work would
    for (const double one : work) {
        middles.push_back(before + 0.5 * one);
        before += one;
    }
    std::vector<std::uint64_t> cuts(of_ranks.size() - 1, 0);
    for (std::size_t r = 0; r < cuts.size(); ++r) {
        const double wanted = all * static_cast<double>(r + 1) / static_cast<double>(of_ranks.size());
        const auto first = std::lower_bound(middles.begin(), middles.end(), wanted) - middles.begin();
        if (first > 0) cuts[r] = keys[static_cast<std::size_t>(first) - 1] + 1;
    }
    return ranges_between(largest_of_ranks(ranks, cuts));
}

} // namespace farfield
