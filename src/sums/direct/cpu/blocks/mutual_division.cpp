#include "sums/direct/cpu/blocks/mutual_division.h"

#include "backend/threads/parallel.h"

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

/// A group's part of a division. Its places apart begin at 0.
struct Group {
    std::vector<BlockSource> sources;
    std::vector<std::int64_t> sources_end; ///< by block
    std::vector<std::int32_t> others;      ///< blocks with places apart, in rising order
    std::vector<std::int64_t> places;      ///< of these blocks, and the end
};

Group group_of(const BlockLists& lists, std::int32_t begin, std::int32_t end) {
    Group group{.sources = {}, .sources_end = {}, .others = outside(lists, begin, end), .places = {0}};
    for (const auto other : group.others)
        group.places.push_back(group.places.back() + lists.sources[static_cast<std::size_t>(other)].size());
    for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) {
        const auto first = group.sources.size();
        const auto block = lists.targets[b];
        if (lists.own) append(group.sources, first, {.range = block, .sums_begin = block.begin});
        for (const auto partner : lists.of(b)) {
            const auto range = lists.sources[static_cast<std::size_t>(partner)];
            if (partner >= begin && partner < end) {
                append(group.sources, first, {.range = range, .sums_begin = range.begin});
                continue;
            }
            const auto other = std::lower_bound(group.others.begin(), group.others.end(), partner);
            const auto place = static_cast<std::size_t>(other - group.others.begin());
            append(group.sources, first, {.range = range, .apart = true, .sums_begin = group.places[place]});
        }
        group.sources_end.push_back(static_cast<std::int64_t>(group.sources.size()));
    }
    return group;
}

} // namespace

std::int64_t mutual_group_points(std::int64_t points) {
    return std::clamp<std::int64_t>(points / 32, 1024, 8192);
}

MutualDivision divide_mutual(const BlockLists& lists, std::int64_t points, int threads) {
    MutualDivision division;
    division.groups = make_groups(lists.targets, points);
    std::vector<Group> groups(division.groups.size() - 1);
    const auto count = static_cast<std::int64_t>(groups.size());
    parallel_for(threads, count, [&](std::int64_t number) {
        const auto g = static_cast<std::size_t>(number);
        groups[g] = group_of(lists, division.groups[g], division.groups[g + 1]);
    });
    division.sources_first.push_back(0);
    division.group_apart.push_back(0);
    division.apart_first.assign(lists.targets.size() + 1, 0);
    std::vector<std::int64_t> first{0}; // sources before each group
    for (const auto& group : groups) {
        for (const auto end : group.sources_end) division.sources_first.push_back(first.back() + end);
        first.push_back(division.sources_first.back());
        division.group_apart.push_back(division.group_apart.back() + group.places.back());
        for (const auto other : group.others) ++division.apart_first[static_cast<std::size_t>(other) + 1];
    }
    division.points_apart = division.group_apart.back();
    division.sources.resize(static_cast<std::size_t>(first.back()));
    parallel_for(threads, count, [&](std::int64_t number) {
        const auto g = static_cast<std::size_t>(number);
        auto* to = division.sources.data() + first[g];
        for (auto source : groups[g].sources) {
            if (source.apart) source.sums_begin += division.group_apart[g];
            *to++ = source;
        }
    });
    for (std::size_t b = 0; b < lists.targets.size(); ++b)
        division.apart_first[b + 1] += division.apart_first[b];
    division.apart.resize(static_cast<std::size_t>(division.apart_first.back()));
    auto next = division.apart_first;
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (std::size_t k = 0; k < groups[g].others.size(); ++k) {
            const auto block = static_cast<std::size_t>(groups[g].others[k]);
            division.apart[static_cast<std::size_t>(next[block]++)] =
                division.group_apart[g] + groups[g].places[k];
        }
    return division;
}

std::vector<std::pair<std::int64_t, std::int64_t>>
places_apart(const MutualDivision& division, std::span<const BlockRange> blocks,
             std::pair<std::int32_t, std::int32_t> filled_by,
             std::pair<std::int32_t, std::int32_t> filled_for) {
    const auto& groups = division.groups;
    const auto first_place = [&](std::int32_t block) {
        const auto group = std::lower_bound(groups.begin(), groups.end(), block) - groups.begin();
        return division.group_apart[static_cast<std::size_t>(group)];
    };
    const auto begin = first_place(filled_by.first), end = first_place(filled_by.second);
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    for (auto b = static_cast<std::size_t>(filled_for.first); b < static_cast<std::size_t>(filled_for.second);
         ++b)
        for (auto k = division.apart_first[b]; k < division.apart_first[b + 1]; ++k) {
            const auto place = division.apart[static_cast<std::size_t>(k)];
            if (place >= begin && place < end) out.emplace_back(place, place + blocks[b].size());
        }
    return out;
}

} // namespace farfield
