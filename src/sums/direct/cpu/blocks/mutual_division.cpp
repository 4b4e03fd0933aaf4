#include "sums/direct/cpu/blocks/mutual_division.h"

#include <algorithm>
#include <utility>

namespace farfield {
namespace {

std::vector<std::int32_t> make_groups(std::span<const BlockRange> blocks, std::int64_t points) {
    const auto wanted = mutual_group_points(points);
    std::vector<std::int32_t> groups{0};
    std::int64_t filled = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        filled += blocks[b].size();
        if (filled < wanted && b + 1 < blocks.size()) continue;
        groups.push_back(static_cast<std::int32_t>(b + 1));
        filled = 0;
    }
    return groups;
}

void append(std::vector<BlockSource>& sources, std::size_t first, const BlockSource& source) {
    if (source.range.size() == 0) return;
    if (sources.size() > first) {
        auto& last = sources.back();
        if (last.range.end == source.range.begin && last.apart == source.apart &&
            last.sums_begin + last.range.size() == source.sums_begin) {
            last.range.end = source.range.end;
            return;
        }
    }
    sources.push_back(source);
}

// Other groups' blocks that blocks of a group name, in rising order, each once.
std::vector<std::int32_t> outside(const BlockLists& lists, std::int32_t begin, std::int32_t end) {
    std::vector<std::int32_t> out;
    for (auto b = begin; b < end; ++b)
        for (const auto partner : lists.of(static_cast<std::size_t>(b)))
            if (partner < begin || partner >= end) out.push_back(partner);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

} // namespace

std::int64_t mutual_group_points(std::int64_t points) {
    return std::clamp<std::int64_t>(points / 32, 1024, 8192);
}

MutualDivision divide_mutual(const BlockLists& lists, std::int64_t points) {
    MutualDivision division;
    division.groups = make_groups(lists.targets, points);
    std::vector<std::pair<std::int32_t, std::int64_t>> apart; // block, place
    for (std::size_t g = 0; g + 1 < division.groups.size(); ++g) {
        const auto begin = division.groups[g];
        const auto end = division.groups[g + 1];
        const auto others = outside(lists, begin, end);
        std::vector<std::int64_t> places;
        for (const auto other : others) {
            places.push_back(division.points_apart);
            apart.emplace_back(other, division.points_apart);
            division.points_apart += lists.sources[static_cast<std::size_t>(other)].size();
        }
        for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) {
            const auto first = division.sources.size();
            division.sources_first.push_back(static_cast<std::int64_t>(first));
            const auto block = lists.targets[b];
            if (lists.own) append(division.sources, first, {.range = block, .sums_begin = block.begin});
            for (const auto partner : lists.of(b)) {
                const auto range = lists.sources[static_cast<std::size_t>(partner)];
                const auto other = std::lower_bound(others.begin(), others.end(), partner);
                if (other != others.end() && *other == partner)
                    append(division.sources, first,
                           {.range = range,
                            .apart = true,
                            .sums_begin = places[static_cast<std::size_t>(other - others.begin())]});
                else
                    append(division.sources, first, {.range = range, .sums_begin = range.begin});
            }
        }
    }
    division.sources_first.push_back(static_cast<std::int64_t>(division.sources.size()));
    std::stable_sort(apart.begin(), apart.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    division.apart_first.assign(lists.targets.size() + 1, 0);
    for (const auto& [block, place] : apart) {
        ++division.apart_first[static_cast<std::size_t>(block) + 1];
        division.apart.push_back(place);
    }
    for (std::size_t b = 0; b < lists.targets.size(); ++b)
        division.apart_first[b + 1] += division.apart_first[b];
    return division;
}

} // namespace farfield
