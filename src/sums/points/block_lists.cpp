#include "sums/points/block_lists.h"

#include "backend/threads/parallel.h"

#include <farfield/error.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace farfield {
namespace {

constexpr std::size_t blocks_a_task = 1024;

void check_ranges(std::span<const BlockRange> ranges, std::int64_t points, const std::string& what) {
    for (std::size_t b = 0; b < ranges.size(); ++b)
        if (ranges[b].begin < 0 || ranges[b].end < ranges[b].begin || ranges[b].end > points)
            throw InvalidArgument(what + " block " + std::to_string(b) + " is [" +
                                  std::to_string(ranges[b].begin) + ", " + std::to_string(ranges[b].end) +
                                  "), but there are " + std::to_string(points) + " points");
}

} // namespace

std::int64_t count_pairs(const BlockLists& lists, int threads) {
    const auto parts = parallel_results(
        threads, lists.targets.size(),
        [&](std::size_t begin, std::size_t end) {
            std::int64_t pairs = 0;
            for (auto b = begin; b < end; ++b) {
                const std::int64_t targets = lists.targets[b].size();
                std::int64_t sources = lists.own ? targets - 1 : 0;
                for (const auto partner : lists.of(b))
                    sources += lists.sources[static_cast<std::size_t>(partner)].size();
                pairs += targets * sources;
            }
            return pairs;
        },
        blocks_a_task);
    return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
}

BlockRows half_of(const BlockLists& lists) {
    BlockRows half;
    std::vector<std::pair<std::int32_t, std::int32_t>> lower;
    std::vector<std::pair<std::int32_t, std::int32_t>> upper;
    for (std::size_t b = 0; b < lists.targets.size(); ++b) {
        const auto number = static_cast<std::int32_t>(b);
        for (const auto partner : lists.of(b)) {
            if (partner > number) {
                half.partners.push_back(partner);
                upper.emplace_back(number, partner);
            } else {
                lower.emplace_back(partner, number);
            }
        }
        half.first.push_back(static_cast<std::int32_t>(half.partners.size()));
    }
    std::sort(lower.begin(), lower.end());
    std::sort(upper.begin(), upper.end());
    const auto [a, b] = std::mismatch(lower.begin(), lower.end(), upper.begin(), upper.end());
    if (a != lower.end() || b != upper.end()) {
        const auto pair = b == upper.end() || (a != lower.end() && *a < *b) ? *a : *b;
        throw InvalidArgument("blocks " + std::to_string(pair.first) + " and " + std::to_string(pair.second) +
                              " do not each name the other; a mutual sum needs that");
    }
    return half;
}

BlockRows both_halves(const BlockLists& lists) {
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    pairs.reserve(2 * lists.partners.size());
    for (std::size_t b = 0; b < lists.targets.size(); ++b)
        for (const auto partner : lists.of(b)) {
            pairs.emplace_back(static_cast<std::int32_t>(b), partner);
            pairs.emplace_back(partner, static_cast<std::int32_t>(b));
        }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    BlockRows both;
    both.first.assign(lists.targets.size() + 1, 0);
    for (const auto& [block, partner] : pairs) {
        ++both.first[static_cast<std::size_t>(block) + 1];
        both.partners.push_back(partner);
    }
    for (std::size_t b = 1; b < both.first.size(); ++b) both.first[b] += both.first[b - 1];
    return both;
}

void check_lists(const BlockLists& lists, std::int64_t target_points, std::int64_t source_points) {
    check_ranges(lists.targets, target_points, "target");
    check_ranges(lists.sources, source_points, "source");
    if (lists.own) check_ranges(lists.targets, source_points, "target");
    if (lists.first.size() != lists.targets.size() + 1)
        throw InvalidArgument(std::to_string(lists.targets.size()) + " target blocks need " +
                              std::to_string(lists.targets.size() + 1) + " starts of rows, not " +
                              std::to_string(lists.first.size()));
    if (lists.first.front() != 0 || lists.first.back() != static_cast<std::int64_t>(lists.partners.size()) ||
        !std::is_sorted(lists.first.begin(), lists.first.end()))
        throw InvalidArgument("starts of rows do not rise from 0 to the number of partners, " +
                              std::to_string(lists.partners.size()));
    const auto blocks = static_cast<std::int64_t>(lists.sources.size());
    for (const auto partner : lists.partners)
        if (partner < 0 || partner >= blocks)
            throw InvalidArgument("source block " + std::to_string(partner) + " of " +
                                  std::to_string(blocks) + " does not exist");
}

namespace {

constexpr std::pair<std::int32_t, std::int32_t> none_twice{-1, -1};

// Of lists in which blocks name higher ones alone: a pair can be listed twice within a row only.
std::pair<std::int32_t, std::int32_t> twice_in_a_row(const BlockLists& lists, int threads) {
    const auto parts = parallel_results(
        threads, lists.targets.size(),
        [&](std::size_t begin, std::size_t end) {
            std::vector<std::int32_t> row;
            for (auto b = begin; b < end; ++b) {
                row.assign(lists.of(b).begin(), lists.of(b).end());
                std::sort(row.begin(), row.end());
                if (const auto twice = std::adjacent_find(row.begin(), row.end()); twice != row.end())
                    return std::pair{static_cast<std::int32_t>(b), *twice};
            }
            return none_twice;
        },
        blocks_a_task);
    const auto found =
        std::find_if(parts.begin(), parts.end(), [](const auto& pair) { return pair != none_twice; });
    return found != parts.end() ? *found : none_twice;
}

bool names_higher_ones_alone(const BlockLists& lists, int threads) {
    const auto parts = parallel_results(
        threads, lists.targets.size(),
        [&](std::size_t begin, std::size_t end) {
            for (auto b = begin; b < end; ++b)
                for (const auto partner : lists.of(b))
                    if (partner <= static_cast<std::int32_t>(b)) return char{0};
            return char{1};
        },
        blocks_a_task);
    return std::all_of(parts.begin(), parts.end(), [](char all) { return all != 0; });
}

// The first pair of blocks that is listed twice, the lower one first.
std::pair<std::int32_t, std::int32_t> listed_twice(const BlockLists& lists, int threads) {
    if (names_higher_ones_alone(lists, threads)) return twice_in_a_row(lists, threads);
    std::vector<std::size_t> next(lists.targets.size() + 1, 0); // where the next partner of a block goes
    const auto each_pair = [&](const auto& body) {
        for (std::size_t b = 0; b < lists.targets.size(); ++b)
            for (const auto partner : lists.of(b)) {
                const auto number = static_cast<std::int32_t>(b);
                if (partner == number)
                    throw InvalidArgument("block " + std::to_string(number) +
                                          " names itself; `own` says that blocks act on themselves");
                body(static_cast<std::size_t>(std::min(number, partner)), std::max(number, partner));
            }
    };
    each_pair([&](std::size_t lower, std::int32_t) { ++next[lower + 1]; });
    for (std::size_t b = 1; b < next.size(); ++b) next[b] += next[b - 1];
    std::vector<std::int32_t> higher(next.back());
    each_pair([&](std::size_t lower, std::int32_t partner) { higher[next[lower]++] = partner; });
    auto first = higher.begin();
    for (std::size_t b = 0; b < lists.targets.size(); ++b) {
        const auto last = higher.begin() + static_cast<std::ptrdiff_t>(next[b]);
        std::sort(first, last);
        if (const auto twice = std::adjacent_find(first, last); twice != last)
            return {static_cast<std::int32_t>(b), *twice};
        first = last;
    }
    return none_twice;
}

} // namespace

void check_mutual_lists(const BlockLists& lists, std::int64_t points, int threads) {
    check_lists(lists, points, points);
    if (lists.targets.data() != lists.sources.data() || lists.targets.size() != lists.sources.size())
        throw InvalidArgument("a mutual sum has one set of blocks, not separate targets and sources");
    std::vector<BlockRange> sorted(lists.targets.begin(), lists.targets.end());
    std::erase_if(sorted, [](const BlockRange& range) { return range.size() == 0; });
    const auto by_begin = [](const BlockRange& a, const BlockRange& b) { return a.begin < b.begin; };
    if (!std::is_sorted(sorted.begin(), sorted.end(), by_begin))
        std::sort(sorted.begin(), sorted.end(), by_begin);
    for (std::size_t b = 1; b < sorted.size(); ++b)
        if (sorted[b].begin < sorted[b - 1].end)
            throw InvalidArgument("point " + std::to_string(sorted[b].begin) +
                                  " is in two blocks of a mutual sum");
    const auto [twice, with] = listed_twice(lists, threads);
    if (twice >= 0)
        throw InvalidArgument("blocks " + std::to_string(twice) + " and " + std::to_string(with) +
                              " are listed twice in a mutual sum");
}

} // namespace farfield
