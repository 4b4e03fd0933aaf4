// Sets of cells as intervals in rows.
#include "stencil/ir/cell_set.h"

#include <algorithm>
#include <utility>

namespace farfield::stencil::ir {
namespace {

// Calls combine(intervals of a, intervals of b, builder) for each pair of rows that has not come before.
template <class Combine>
CellSet by_rows(const CellSet& a, const CellSet& b, Combine&& combine) {
    CellSet::Builder builder(a.shape());
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    for (std::int64_t r = 0; r < a.rows(); ++r) {
        const auto [place, fresh] = known.try_emplace(std::uint64_t{a.pattern(r)} << 32U | b.pattern(r));
        if (!fresh) {
            builder.repeat_row(place->second);
            continue;
        }
        combine(a.row(r), b.row(r), builder);
        place->second = builder.end_row();
    }
    return builder.finish();
}

std::uint64_t hash_of(std::span<const Interval> row) {
    std::uint64_t hash = row.size();
    for (const auto& interval : row)
        for (const auto end : {interval.first, interval.last}) {
            hash = (hash ^ static_cast<std::uint64_t>(end)) * 0x9E3779B97F4A7C15U;
            hash ^= hash >> 29U;
        }
    return hash;
}

} // namespace

bool CellBox::empty() const { return last[0] <= first[0] || last[1] <= first[1] || last[2] <= first[2]; }

std::int64_t CellBox::count() const {
    return empty() ? 0 : (last[0] - first[0]) * (last[1] - first[1]) * (last[2] - first[2]);
}

CellBox whole(const Shape& shape) { return {{0, 0, 0}, shape}; }

CellBox intersection(const CellBox& a, const CellBox& b) {
    CellBox both;
    for (std::size_t i = 0; i < 3; ++i) {
        both.first[i] = std::max(a.first[i], b.first[i]);
        both.last[i] = std::min(a.last[i], b.last[i]);
    }
    return both;
}

CellSet::CellSet(const Shape& shape) : CellSet(shape, CellBox{}) {}

CellSet::CellSet(const Shape& shape, const CellBox& box) {
    const auto inside = intersection(box, whole(shape));
    Builder builder(shape);
    for (std::int64_t k = 0; k < shape[2]; ++k)
        for (std::int64_t j = 0; j < shape[1]; ++j) {
            if (!inside.empty() && j >= inside.first[1] && j < inside.last[1] && k >= inside.first[2] &&
                k < inside.last[2])
                builder.add({inside.first[0], inside.last[0]});
            builder.end_row();
        }
    *this = builder.finish();
}

bool CellSet::contains(const std::array<std::int64_t, 3>& cell) const {
    for (std::size_t a = 0; a < 3; ++a)
        if (cell[a] < 0 || cell[a] >= shape_[a]) return false;
    const auto intervals = row(cell[1] + shape_[1] * cell[2]);
    const auto after = std::upper_bound(intervals.begin(), intervals.end(), cell[0],
                                        [](std::int64_t i, const Interval& in) { return i < in.first; });
    return after != intervals.begin() && cell[0] < std::prev(after)->last;
}

CellSet::Builder::Builder(const Shape& shape) {
    set_.shape_ = shape;
    set_.patterns_.reserve(static_cast<std::size_t>(set_.rows()));
    set_.pattern_begin_.push_back(0);
}

void CellSet::Builder::add(Interval interval) {
    if (interval.last <= interval.first) return;
    auto& all = set_.intervals_;
    const bool first_of_row = static_cast<std::int64_t>(all.size()) == set_.pattern_begin_.back();
    if (!first_of_row && all.back().last == interval.first)
        all.back().last = interval.last;
    else
        all.push_back(interval);
}

std::uint32_t CellSet::Builder::end_row() {
    auto& set = set_;
    const auto pattern_of = [&](std::size_t k) {
        return std::span(set.intervals_)
            .subspan(static_cast<std::size_t>(set.pattern_begin_[k]),
                     static_cast<std::size_t>(set.pattern_begin_[k + 1] - set.pattern_begin_[k]));
    };
    const auto begin = static_cast<std::size_t>(set.pattern_begin_.back());
    const auto row = std::span(set.intervals_).subspan(begin);
    const auto hash = hash_of(row);
    const auto [first, last] = known_.equal_range(hash);
    const auto same = std::find_if(
        first, last, [&](const auto& one) { return std::ranges::equal(pattern_of(one.second), row); });
    if (same != last) {
        set.intervals_.resize(begin);
        count_row(same->second);
        return same->second;
    }
    const auto fresh = static_cast<std::uint32_t>(set.pattern_begin_.size() - 1);
    known_.emplace(hash, fresh);
    std::int64_t cells = 0;
    for (const auto& interval : row) cells += interval.last - interval.first;
    cells_.push_back(cells);
    set.pattern_begin_.push_back(static_cast<std::int64_t>(set.intervals_.size()));
    count_row(fresh);
    return fresh;
}

void CellSet::Builder::repeat_row(std::uint32_t pattern) { count_row(pattern); }

void CellSet::Builder::add_rows(const CellSet& set) {
    std::vector<std::uint32_t> here; // of the other's patterns, whose numbers come in order
    for (std::int64_t r = 0; r < set.rows(); ++r) {
        const auto there = set.pattern(r);
        if (there < here.size()) {
            repeat_row(here[there]);
            continue;
        }
        for (const auto& interval : set.row(r)) add(interval);
        here.push_back(end_row());
    }
}

// Of the row that has just ended.
void CellSet::Builder::count_row(std::uint32_t pattern) {
    auto& set = set_;
    const auto r = static_cast<std::int64_t>(set.patterns_.size());
    set.patterns_.push_back(pattern);
    if (cells_[pattern] == 0) return;
    const auto row = set.row(r);
    const std::array<std::int64_t, 3> low{row.front().first, r % set.shape_[1], r / set.shape_[1]};
    const std::array<std::int64_t, 3> high{row.back().last, low[1] + 1, low[2] + 1};
    const bool none_yet = set.count_ == 0;
    for (std::size_t a = 0; a < 3; ++a) {
        set.bounds_.first[a] = none_yet ? low[a] : std::min(set.bounds_.first[a], low[a]);
        set.bounds_.last[a] = none_yet ? high[a] : std::max(set.bounds_.last[a], high[a]);
    }
    set.count_ += cells_[pattern];
}

CellSet CellSet::Builder::finish() { return std::move(set_); }

CellSet intersection(const CellSet& a, const CellSet& b) {
    return by_rows(a, b, [](auto left, auto right, CellSet::Builder& out) {
        for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
            out.add({std::max(left[i].first, right[j].first), std::min(left[i].last, right[j].last)});
            if (left[i].last < right[j].last)
                ++i;
            else
                ++j;
        }
    });
}

CellSet unite(const CellSet& a, const CellSet& b) {
    return by_rows(a, b, [](auto left, auto right, CellSet::Builder& out) {
        std::size_t i = 0;
        std::size_t j = 0;
        Interval open; // the union so far, from open.first on, is not complete yet
        while (i < left.size() || j < right.size()) {
            const bool from_left = j == right.size() || (i < left.size() && left[i].first <= right[j].first);
            const auto next = from_left ? left[i++] : right[j++];
            if (next.first > open.last) {
                out.add(open);
                open = next;
            }
            open.last = std::max(open.last, next.last);
        }
        out.add(open);
    });
}

CellSet difference(const CellSet& a, const CellSet& b) {
    return by_rows(a, b, [](auto left, auto right, CellSet::Builder& out) {
        std::size_t j = 0;
        for (const auto& interval : left) {
            auto from = interval.first;
            while (j < right.size() && right[j].last <= from) ++j;
            for (auto hole = j; hole < right.size() && right[hole].first < interval.last; ++hole) {
                out.add({from, right[hole].first});
                from = std::max(from, right[hole].last);
            }
            out.add({from, interval.last});
        }
    });
}

CellSet complement(const CellSet& a) { return difference(CellSet(a.shape(), whole(a.shape())), a); }

} // namespace farfield::stencil::ir
