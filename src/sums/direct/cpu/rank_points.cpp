#include "sums/direct/cpu/rank_points.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace farfield {
namespace {

/// The ranges of an array with `width` numbers a row.
std::vector<RowRanges> widened(const std::vector<RowRanges>& rows, std::int64_t width) {
    auto out = rows;
    for (auto& ranges : out)
        for (auto& [begin, end] : ranges) {
            begin *= width;
            end *= width;
        }
    return out;
}

void append(RowRanges& ranges, std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    if (!ranges.empty() && ranges.back().second == begin)
        ranges.back().second = end;
    else
        ranges.emplace_back(begin, end);
}

/// Scaled rows of W numbers, one after the other.
template <std::size_t W>
void gather(std::span<const double> from, std::span<const std::int32_t> rows, const PowerOfTwo& scale,
            double* to) {
    for (const auto row : rows) {
        const auto* const numbers = from.data() + W * static_cast<std::size_t>(row);
        for (std::size_t k = 0; k < W; ++k) to[k] = scale.product(numbers[k]);
        to += W;
    }
}

} // namespace

// Calls put(row, from, own): an own row arrives as number `from`.
template <class Put>
void RankPoints::each_row(const Put& put) const {
    parallel_parts(threads_, static_cast<std::size_t>(rows_), [&](std::size_t begin, std::size_t end) {
        for (auto row = begin; row < end; ++row) {
            const auto i = static_cast<std::int64_t>(row) - own_begin_;
            const bool own = 0 <= i && i < own_count_;
            const auto n = static_cast<std::size_t>(i);
            put(row, !own || place_.empty() ? n : static_cast<std::size_t>(place_[n]), own);
        }
    });
}

// Leaves follow each other along the curve, so that the given points of one rank do, too.
GivenRows given_rows(const Octree& tree, PointSet set, std::span<const std::int32_t> leaves,
                     std::span<const std::int32_t> first_leaves) {
    GivenRows out{.order = {tree.given_order(set).begin(), tree.given_order(set).end()}, .ends = {}};
    std::int64_t end = 0;
    for (std::size_t r = 0; r + 1 < first_leaves.size(); ++r) {
        const auto last = first_leaves[r + 1];
        if (last > first_leaves[r]) end = tree.given(set, leaves[static_cast<std::size_t>(last) - 1]).end;
        out.ends.push_back(end);
    }
    return out;
}

RankPoints::RankPoints(comm::Transport& ranks, PointSet set, const Octree& tree,
                       std::span<const std::int32_t> leaves, LeafRange own_leaves, const RankHalo& halo,
                       GivenRows rows_of_given, std::span<const double> given,
                       std::span<const double> numbers, int threads)
    : ranks_(ranks), set_(set), threads_(threads), order_(std::move(rows_of_given.order)) {
    plan_given(rows_of_given.ends);
    number_rows(tree, leaves, own_leaves, halo);
    const auto points = arrived(given, 3, PowerOfTwo(0));
    std::vector<std::int64_t> parts{0};
    for (const auto& from : arrived_from_) parts.push_back(from.front().second);
    auto sorted = tree.order_of(points, parts, threads_);
    if (comm::any_rank(ranks_, !numbers.empty())) order_by_numbers(sorted, numbers);
    place_ = std::move(sorted.from);
    if (std::is_sorted(place_.begin(), place_.end())) place_ = {};
    auto& x = points_.x;
    for (auto& axis : x) axis.resize(static_cast<std::size_t>(rows_));
    each_row([&](std::size_t row, std::size_t from, bool own) {
        for (std::size_t axis = 0; axis < 3; ++axis) x[axis][row] = own ? points[3 * from + axis] : 0.0;
    });
    const SumRows rows(std::vector{x[0].data(), x[1].data(), x[2].data()});
    exchange_rows(ranks_, rows, halo_to_, rows, halo_from_);
}

// Of all ranks. Few points have the key of another, and often none.
void RankPoints::order_by_numbers(SortedKeys& sorted, std::span<const double> numbers) const {
    const auto& keys = sorted.keys;
    std::vector<std::pair<std::size_t, std::size_t>> runs; // of the same key
    for (std::size_t i = 1; i < keys.size(); ++i) {
        if (keys[i] != keys[i - 1]) continue;
        const auto begin = i - 1;
        while (i < keys.size() && keys[i] == keys[begin]) ++i;
        runs.emplace_back(begin, i);
    }
    if (!comm::any_rank(ranks_, !runs.empty())) return;
    const auto number = arrived(numbers, 1, PowerOfTwo(0));
    for (const auto& [begin, end] : runs)
        std::sort(sorted.from.begin() + static_cast<std::ptrdiff_t>(begin),
                  sorted.from.begin() + static_cast<std::ptrdiff_t>(end),
                  [&](std::int32_t a, std::int32_t b) {
                      return number[static_cast<std::size_t>(a)] < number[static_cast<std::size_t>(b)];
                  });
}

void RankPoints::plan_given(std::span<const std::int64_t> ends) {
    const auto ranks = ends.size();
    std::vector<std::int64_t> counts;
    std::int64_t begin = 0;
    for (const auto end : ends) {
        given_to_.push_back({{begin, end}});
        counts.push_back(end - begin);
        begin = end;
    }
    const auto all = comm::all_gathered(ranks_, std::span<const std::int64_t>(counts),
                                        std::vector(ranks, static_cast<std::int64_t>(ranks)));
    for (std::size_t r = 0; r < ranks; ++r) {
        const auto count = all[r * ranks + static_cast<std::size_t>(ranks_.rank())];
        arrived_from_.push_back({{own_count_, own_count_ + count}});
        own_count_ += count;
    }
}

// Rows follow the curve, with one that is unused wherever points are left out: leaves that do not follow each
// other are not taken for one run of sources, so that sums have the bits of one rank.
void RankPoints::number_rows(const Octree& tree, std::span<const std::int32_t> all_leaves, LeafRange own,
                             const RankHalo& halo) {
    const auto [own_first, own_last] = own;
    std::vector<std::int32_t> leaves;
    for (auto leaf = own_first; leaf < own_last; ++leaf) leaves.push_back(leaf);
    for (const auto& from : halo.from) leaves.insert(leaves.end(), from.begin(), from.end());
    std::sort(leaves.begin(), leaves.end());
    std::int64_t next = 0;
    std::vector<std::int32_t> begin_of(all_leaves.size(), -1);
    const auto rows_of_all = [&](std::int32_t leaf) {
        const auto& cell = tree.cell(all_leaves[static_cast<std::size_t>(leaf)]);
        return set_ == PointSet::sources ? cell.sources : cell.targets;
    };
    const auto size_of = [&](std::int32_t leaf) { return rows_of_all(leaf).size(); };
    for (std::size_t n = 0; n < leaves.size(); ++n) {
        const bool left_out = n > 0 && rows_of_all(leaves[n]).begin != rows_of_all(leaves[n - 1]).end;
        if (left_out) ++next;
        const auto leaf = static_cast<std::size_t>(leaves[n]);
        begin_of[leaf] = static_cast<std::int32_t>(next);
        points_.cells.push_back(all_leaves[leaf]);
        points_.begins.push_back(begin_of[leaf]);
        next += size_of(leaves[n]);
    }
    rows_ = std::max<std::int64_t>(next, 1);
    if (own_first < own_last) own_begin_ = begin_of[static_cast<std::size_t>(own_first)];
    const auto rows_of = [&](const std::vector<std::vector<std::int32_t>>& of_ranks) {
        std::vector<RowRanges> out(given_to_.size());
        for (std::size_t r = 0; r < of_ranks.size(); ++r)
            for (const auto leaf : of_ranks[r]) {
                const std::int64_t begin = begin_of[static_cast<std::size_t>(leaf)];
                append(out[r], begin, begin + size_of(leaf));
            }
        return out;
    };
    halo_to_ = rows_of(halo.to);
    halo_from_ = rows_of(halo.from);
}

// What stays here is not packed first, here and in bring_back.
RawVector<double> RankPoints::arrived(std::span<const double> given, std::int64_t width,
                                      const PowerOfTwo& scale) const {
    const auto w = static_cast<std::size_t>(width);
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    RawVector<double> leaving(order_.size() * w), out(static_cast<std::size_t>(own_count_) * w);
    const auto stay_begin = given_to_[rank].front().first, stay_end = given_to_[rank].front().second;
    double* const staying = out.data() + arrived_from_[rank].front().first * width;
    const auto pack = [&](std::size_t begin, std::size_t end, double* to) {
        const auto rows = std::span(order_).subspan(begin, end - begin);
        const auto of_width = width == 3 ? gather<3> : width == 2 ? gather<2> : gather<1>;
        of_width(given, rows, scale, to);
    };
    parallel_parts(threads_, order_.size(), [&](std::size_t begin, std::size_t end) {
        const auto stay_from = std::clamp(static_cast<std::size_t>(stay_begin), begin, end);
        const auto stay_until = std::clamp(static_cast<std::size_t>(stay_end), begin, end);
        pack(begin, stay_from, leaving.data() + w * begin);
        if (stay_from < stay_until)
            pack(stay_from, stay_until,
                 staying + (static_cast<std::int64_t>(stay_from) - stay_begin) * width);
        pack(stay_until, end, leaving.data() + w * stay_until);
    });
    auto to = widened(given_to_, width), from = widened(arrived_from_, width);
    to[rank].clear();
    from[rank].clear();
    exchange_rows(ranks_, SumRows(std::vector{leaving.data()}), std::move(to),
                  SumRows(std::vector{out.data()}), std::move(from));
    return out;
}

Homes RankPoints::homes() const {
    Homes out{.order = order_, .begins = {0}};
    for (const auto& ranges : given_to_) out.begins.push_back(ranges.front().second);
    return out;
}

void RankPoints::bring(std::span<const double> given, std::int64_t width, const PowerOfTwo& scale,
                       double* rows) const {
    const auto w = static_cast<std::size_t>(width);
    const auto values = arrived(given, width, scale);
    each_row([&](std::size_t row, std::size_t from, bool own) {
        for (std::size_t k = 0; k < w; ++k) rows[w * row + k] = own ? values[w * from + k] : 0.0;
    });
    const SumRows all(std::vector{rows});
    exchange_rows(ranks_, all, widened(halo_to_, width), all, widened(halo_from_, width));
}

void RankPoints::bring_back(const TileSums& rows, const TileSums& given) const {
    const SumRows of_rows(rows);
    const auto count = static_cast<std::size_t>(own_count_);
    RawVector<double> arrived(count * static_cast<std::size_t>(of_rows.arrays()));
    std::vector<double*> leaving;
    for (std::size_t k = 0; k < static_cast<std::size_t>(of_rows.arrays()); ++k)
        leaving.push_back(arrived.data() + k * count);
    const SumRows of_given(given);
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    const auto stay_begin = arrived_from_[rank].front().first, stay_end = arrived_from_[rank].front().second;
    const auto moved = given_to_[rank].front().first - stay_begin;
    parallel_parts(threads_, count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = 0; k < leaving.size(); ++k) {
            const double* const sums = of_rows.array(static_cast<std::int64_t>(k)) + own_begin_;
            double* const staying = of_given.array(static_cast<std::int64_t>(k));
            for (auto i = begin; i < end; ++i) {
                const auto place = place_.empty() ? static_cast<std::int64_t>(i) : std::int64_t{place_[i]};
                const bool stays = stay_begin <= place && place < stay_end;
                (stays ? staying : leaving[k])[place + (stays ? moved : 0)] = sums[i];
            }
        }
    });
    auto from = arrived_from_, to = given_to_;
    from[rank].clear();
    to[rank].clear();
    exchange_rows(ranks_, SumRows(leaving), std::move(from), of_given, std::move(to));
}

} // namespace farfield
