// How records sum over cells: a fixed tree, so that every target, mask strategy and number of threads gives
// the same bits. Host and device.
//
// A row is cut into atoms of 64 cells that start at multiples of 64. In an atom, lane l of 8 adds the values
// of cells 64a + l, 64a + 8 + l, … in this order to 0.0, leaving out the cells that are not in the set; the
// atom's sum is
// ((l0+l4)+(l2+l6)) + ((l1+l5)+(l3+l7)). Atoms of all rows, numbered row by row (also those without a cell,
// which are 0.0), are summed by the tree of `TreeSum`: neighbours in pairs, the pairs in pairs, … with
// missing partners left out. Maxima and minima start from the first cell; a NaN anywhere gives NaN. A mean is
// the sum divided by the number of cells.
#pragma once

#include <array>
#include <cstdint>

namespace farfield::stencil::ir {

constexpr std::int64_t atom_cells = 64;
constexpr int atom_lanes = 8;

constexpr std::int64_t atoms_in_row(std::int64_t cells) { return (cells + atom_cells - 1) / atom_cells; }

constexpr double sum_of_lanes(const std::array<double, atom_lanes>& l) {
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

/// Adds numbers that arrive in order 0, 1, 2, … as a tree: level k holds the sum of 2^k neighbours.
class TreeSum {
public:
    void add(double value) { add_subtree(value, 0); }
    /// The sum of the next 2^level numbers; the numbers so far are a multiple of 2^level.
    void add_subtree(double value, int level) {
        const auto before = count_;
        count_ += std::int64_t{1} << level;
        for (auto n = before >> level; (n & 1) != 0; n >>= 1) value = partial_[level++] + value;
        partial_[level] = value;
    }
    /// The incomplete levels, smallest first, are the right operands.
    double total() const {
        double sum = 0;
        bool first = true;
        for (int level = 0; level < 63; ++level)
            if (((count_ >> level) & 1) != 0) {
                sum = first ? partial_[level] : partial_[level] + sum;
                first = false;
            }
        return sum;
    }

private:
    std::int64_t count_ = 0;
    double partial_[64] = {};
};

} // namespace farfield::stencil::ir
