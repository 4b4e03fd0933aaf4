// The boxes of a lattice that hold points, in the order of their keys, and those near one of them: boxes
// whose distance is at most the cut-off.
#pragma once

#include "sums/gauss/boxes/lattice.h"
#include "sums/points/block_lists.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// Boxes of `side` in the frame or a little less, such that whole ones fill the extent.
GaussLattice fitted_lattice(const GaussExtent& extent, const GaussFrame& frame, int dimension, double side);

/// Of boxes along an axis that a cut-off about one of them reaches, or that there are.
double most_offsets(const GaussLattice& lattice, std::size_t axis, double cutoff);

class OccupiedBoxes {
public:
    OccupiedBoxes() = default;
    /// `keys`: of points, sorted.
    OccupiedBoxes(const GaussLattice& lattice, std::span<const std::uint64_t> keys);

    [[nodiscard]] std::size_t count() const { return key_.size(); }
    [[nodiscard]] std::span<const std::uint64_t> keys() const { return key_; }
    [[nodiscard]] BlockRange points(std::size_t box) const { return {begin_[box], begin_[box + 1]}; }
    [[nodiscard]] std::int32_t size(std::size_t box) const { return begin_[box + 1] - begin_[box]; }

    /// Calls visit(box) for those whose distance from the box at `centre` is at most `cutoff`, in the order
    /// of their keys.
    template <class Visit>
    void visit_near(const std::array<std::int64_t, most_dimensions>& centre, double cutoff,
                    const Visit& visit) const;

private:
    using Place = std::array<std::int64_t, most_dimensions>;
    /// Boxes of a row along the first axis.
    [[nodiscard]] BlockRange row_at(std::uint64_t row) const;
    [[nodiscard]] double gap2(std::size_t axis, std::int64_t offset) const {
        const double gap = static_cast<double>(offset < 0 ? -offset : offset) - 1.0;
        return gap > 0.0 ? gap * gap * lattice_.side[axis] * lattice_.side[axis] : 0.0;
    }

    GaussLattice lattice_;
    std::vector<std::uint64_t> key_;
    std::vector<std::int32_t> begin_{0};
    std::vector<std::int64_t> along_;     ///< place of a box along the first axis
    std::vector<std::uint64_t> row_;      ///< rows that hold boxes
    std::vector<std::int32_t> row_begin_; ///< their boxes
    std::vector<std::int32_t> row_of_; ///< number of a row of the lattice, −1 without boxes; empty: too many
};

template <class Visit>
void OccupiedBoxes::visit_near(const Place& centre, double cutoff, const Visit& visit) const {
    const auto d = static_cast<std::size_t>(lattice_.dimension);
    Place low{}, high{}, at{};
    double rows = 1.0;
    for (std::size_t k = 0; k < d; ++k) {
        const double steps = std::min(cutoff / lattice_.side[k], static_cast<double>(lattice_.count[k]));
        const auto reach = static_cast<std::int64_t>(steps) + 1;
        low[k] = at[k] = std::max<std::int64_t>(0, centre[k] - reach);
        high[k] = std::min(lattice_.count[k] - 1, centre[k] + reach);
        if (k > 0) rows *= static_cast<double>(high[k] - low[k] + 1);
    }
    const double most2 = cutoff * cutoff;
    const auto visit_row = [&](const BlockRange& boxes, double left2) {
        const auto* const begin = along_.data();
        const auto* from = std::lower_bound(begin + boxes.begin, begin + boxes.end, low[0]);
        for (auto b = static_cast<std::size_t>(from - begin);
             b < static_cast<std::size_t>(boxes.end) && along_[b] <= high[0]; ++b)
            if (gap2(0, along_[b] - centre[0]) <= left2) visit(b);
    };
    if (rows > static_cast<double>(row_.size())) { // fewer rows hold boxes than are near
        for (std::size_t r = 0; r < row_.size(); ++r) {
            double left2 = most2;
            auto rest = row_[r];
            for (std::size_t k = 1; k < d; ++k) {
                const auto boxes = static_cast<std::uint64_t>(lattice_.count[k]);
                left2 -= gap2(k, static_cast<std::int64_t>(rest % boxes) - centre[k]);
                rest /= boxes;
            }
            if (left2 >= 0.0) visit_row({row_begin_[r], row_begin_[r + 1]}, left2);
        }
        return;
    }
    for (;;) {
        double left2 = most2;
        std::uint64_t row = 0;
        for (auto k = d; k-- > 1;) {
            left2 -= gap2(k, at[k] - centre[k]);
            row = row * static_cast<std::uint64_t>(lattice_.count[k]) + static_cast<std::uint64_t>(at[k]);
        }
        if (left2 >= 0.0) visit_row(row_at(row), left2);
        std::size_t k = 1;
        for (; k < d && at[k] == high[k]; ++k) at[k] = low[k];
        if (k >= d) return;
        ++at[k];
    }
}

} // namespace farfield
