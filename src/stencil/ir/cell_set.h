// A set of cells of a grid, as intervals in rows: what a subdomain is once its shape is known. Rows that are
// alike are kept once, so that stripes and chessboards stay small.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace farfield::stencil::ir {

/// Cells along the axes of a grid, in their order: axis 0 lies fastest in memory. Missing axes have 1 cell.
using Shape = std::array<std::int64_t, 3>;

/// Cells first to last − 1 of a row.
struct Interval {
    std::int64_t first = 0;
    std::int64_t last = 0;
    friend bool operator==(const Interval&, const Interval&) = default;
};

/// A box of cells: first[a] ≤ i_a < last[a]. Empty where some last ≤ first.
struct CellBox {
    std::array<std::int64_t, 3> first = {};
    std::array<std::int64_t, 3> last = {};
    bool empty() const;
    std::int64_t count() const;
    friend bool operator==(const CellBox&, const CellBox&) = default;
};

CellBox whole(const Shape& shape);
CellBox intersection(const CellBox& a, const CellBox& b);

/// Row number r = i_1 + shape[1]·i_2 holds the cells (·, i_1, i_2).
class CellSet {
public:
    CellSet() = default;
    /// The empty set.
    explicit CellSet(const Shape& shape);
    CellSet(const Shape& shape, const CellBox& box);

    /// Makes a set row by row.
    class Builder;

    const Shape& shape() const { return shape_; }
    std::int64_t rows() const { return shape_[1] * shape_[2]; }
    std::span<const Interval> row(std::int64_t r) const {
        const auto* begin = pattern_begin_.data() + pattern(r);
        return {intervals_.data() + begin[0], intervals_.data() + begin[1]};
    }
    /// Rows with the same number are alike; numbers count from 0 in the order of the rows.
    std::uint32_t pattern(std::int64_t r) const { return patterns_[static_cast<std::size_t>(r)]; }
    /// The smallest box that holds every cell; empty for the empty set.
    const CellBox& bounds() const { return bounds_; }
    std::int64_t count() const { return count_; }
    bool empty() const { return count_ == 0; }
    /// Of all rows that differ: what the set's memory grows with.
    std::int64_t intervals() const { return static_cast<std::int64_t>(intervals_.size()); }
    /// Whether it is all of bounds().
    bool is_box() const { return count_ == bounds_.count(); }
    bool contains(const std::array<std::int64_t, 3>& cell) const;

    friend bool operator==(const CellSet& a, const CellSet& b) {
        return a.shape_ == b.shape_ && a.patterns_ == b.patterns_ && a.pattern_begin_ == b.pattern_begin_ &&
               a.intervals_ == b.intervals_;
    }

private:
    Shape shape_ = {0, 0, 0};
    std::vector<std::uint32_t> patterns_;     ///< of each row
    std::vector<std::int64_t> pattern_begin_; ///< places in intervals_, one more than there are patterns
    std::vector<Interval> intervals_;
    CellBox bounds_;
    std::int64_t count_ = 0;
};

class CellSet::Builder {
public:
    explicit Builder(const Shape& shape);
    /// Appends to the row at hand: intervals come in ascending order; touching ones are joined, empty ones
    /// dropped.
    void add(Interval interval);
    /// @returns the row's number, CellSet::pattern.
    std::uint32_t end_row();
    /// A row, in place of `add` and `end_row`, that is like an earlier one.
    void repeat_row(std::uint32_t pattern);
    /// All rows of a set with rows of the same length.
    void add_rows(const CellSet& set);
    /// In the rows so far, as CellSet::intervals().
    std::int64_t intervals() const { return static_cast<std::int64_t>(set_.intervals_.size()); }
    /// After `end_row` for each row.
    CellSet finish();

private:
    void count_row(std::uint32_t pattern);

    CellSet set_;
    std::vector<std::int64_t> cells_;                             ///< in a row of each pattern
    std::unordered_multimap<std::uint64_t, std::uint32_t> known_; ///< patterns by hash
};

CellSet intersection(const CellSet& a, const CellSet& b);
/// The cells of either.
CellSet unite(const CellSet& a, const CellSet& b);
CellSet difference(const CellSet& a, const CellSet& b);
/// The cells of the grid that are not in the set.
CellSet complement(const CellSet& a);

} // namespace farfield::stencil::ir
