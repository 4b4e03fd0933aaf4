#include "sums/direct/cpu/blocks/mutual_division.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <utility>

namespace farfield {
namespace {

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

/// A group's part of a division. Its places apart begin at 0.
struct Group {
    std::vector<BlockSource> sources;
    std::vector<std::int64_t> sources_end; ///< by block
    std::vector<std::int32_t> others;      ///< blocks with places apart, in rising order
    std::vector<std::int64_t> places;      ///< of these blocks, and the end
};

/// Divides one group after another: their tables by block are one.
class GroupMaker {
public:
    explicit GroupMaker(const BlockLists& lists) : lists_(lists), place_(lists.targets.size(), nowhere) {}

    Group make(std::int32_t begin, std::int32_t end) {
        Group group;
        const auto partners = find_others(begin, end, group.others);
        group.places.push_back(0);
        for (const auto other : group.others) {
            place_[static_cast<std::size_t>(other)] = group.places.back();
            group.places.push_back(group.places.back() + size_of(other));
        }
        group.sources.reserve(partners + static_cast<std::size_t>(end - begin));
        for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) {
            const auto first = group.sources.size();
            const auto block = lists_.targets[b];
            if (lists_.own) append(group.sources, first, {.range = block, .sums_begin = block.begin});
            for (const auto partner : lists_.of(b)) append(group.sources, first, source(partner));
            group.sources_end.push_back(static_cast<std::int64_t>(group.sources.size()));
        }
        for (const auto other : group.others) place_[static_cast<std::size_t>(other)] = nowhere;
        return group;
    }

private:
    static constexpr std::int64_t nowhere = -1;

    // Other groups' blocks that blocks of a group name, in rising order, each once. Returns the number of all
    // partners.
    std::size_t find_others(std::int32_t begin, std::int32_t end, std::vector<std::int32_t>& others) {
        std::size_t partners = 0;
        for (auto b = begin; b < end; ++b)
            for (const auto partner : lists_.of(static_cast<std::size_t>(b))) {
                ++partners;
                auto& place = place_[static_cast<std::size_t>(partner)];
                if ((partner >= begin && partner < end) || place != nowhere) continue;
                place = 0; // for now
                others.push_back(partner);
            }
        std::sort(others.begin(), others.end());
        return partners;
    }

    [[nodiscard]] std::int32_t size_of(std::int32_t block) const {
        return lists_.sources[static_cast<std::size_t>(block)].size();
    }

    [[nodiscard]] BlockSource source(std::int32_t partner) const {
        const auto range = lists_.sources[static_cast<std::size_t>(partner)];
        const auto place = place_[static_cast<std::size_t>(partner)];
        const bool apart = place != nowhere;
        return {.range = range, .apart = apart, .sums_begin = apart ? place : range.begin};
    }

    const BlockLists& lists_;
    std::vector<std::int64_t> place_; ///< apart, of a block of another group
};

} // namespace

std::int64_t mutual_group_points(std::int64_t points) {
    return std::clamp<std::int64_t>(points / 32, 1024, 8192);
}

std::vector<std::int32_t> mutual_groups(std::span<const BlockRange> blocks, std::int64_t points) {
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

MutualDivision divide_mutual(const BlockLists& lists, std::int64_t points, int threads) {
    return divide_mutual(lists, mutual_groups(lists.targets, points), threads);
}

MutualDivision divide_mutual(const BlockLists& lists, std::vector<std::int32_t> group_begins, int threads) {
    MutualDivision division;
    division.groups = std::move(group_begins);
    std::vector<Group> groups(division.groups.size() - 1);
    const auto count = static_cast<std::int64_t>(groups.size());
    const auto makers = 4 * static_cast<std::size_t>(thread_count(threads)); // few: each has a table
    parallel_parts(
        threads, groups.size(),
        [&](std::size_t begin, std::size_t end) {
            GroupMaker maker(lists);
            for (auto g = begin; g < end; ++g)
                groups[g] = maker.make(division.groups[g], division.groups[g + 1]);
        },
        groups.size() / makers + 1);
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
