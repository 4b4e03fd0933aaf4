#include "sums/gauss/boxes/occupied_boxes.h"

namespace farfield {
namespace {

constexpr double least_share = 1e-3; ///< of a side, along an axis in which all points have one place

} // namespace

GaussLattice fitted_lattice(const GaussExtent& extent, const GaussFrame& frame, int dimension, double side) {
    GaussLattice lattice(extent, frame, dimension, side);
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
        const double length = std::ldexp(extent.high[k] - frame.centre[k], frame.exponent) - lattice.low[k];
        const double boxes = std::max(1.0, std::ceil(length / lattice.side[k]));
        if (boxes > static_cast<double>(lattice.count[k])) continue;
        lattice.count[k] = static_cast<std::int64_t>(boxes);
        lattice.side[k] = std::min(lattice.side[k], std::max(length / boxes, least_share * lattice.side[k]));
    }
    return lattice;
}

double most_offsets(const GaussLattice& lattice, std::size_t axis, double cutoff) {
    return std::min(2.0 * std::floor(cutoff / lattice.side[axis]) + 3.0,
                    static_cast<double>(lattice.count[axis]));
}

OccupiedBoxes::OccupiedBoxes(const GaussLattice& lattice, std::span<const std::uint64_t> keys)
    : lattice_(lattice) {
    begin_.clear();
    const auto along = static_cast<std::uint64_t>(lattice.count[0]);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i > 0 && keys[i] == keys[i - 1]) continue;
        const auto row = keys[i] / along;
        if (row_.empty() || row != row_.back()) {
            row_.push_back(row);
            row_begin_.push_back(static_cast<std::int32_t>(key_.size()));
        }
        key_.push_back(keys[i]);
        along_.push_back(static_cast<std::int64_t>(keys[i] % along));
        begin_.push_back(static_cast<std::int32_t>(i));
    }
    begin_.push_back(static_cast<std::int32_t>(keys.size()));
    row_begin_.push_back(static_cast<std::int32_t>(key_.size()));
    double rows = 1.0;
    for (int k = 1; k < lattice.dimension; ++k) rows *= static_cast<double>(lattice.count[k]);
    if (rows > 4.0 * static_cast<double>(key_.size()) + 4096.0) return;
    row_of_.assign(static_cast<std::size_t>(rows), -1);
    for (std::size_t r = 0; r < row_.size(); ++r) row_of_[row_[r]] = static_cast<std::int32_t>(r);
}

BlockRange OccupiedBoxes::row_at(std::uint64_t row) const {
    std::size_t r = row_.size();
    if (!row_of_.empty()) {
        if (row_of_[row] < 0) return {};
        r = static_cast<std::size_t>(row_of_[row]);
    } else {
        const auto found = std::lower_bound(row_.begin(), row_.end(), row);
        if (found == row_.end() || *found != row) return {};
        r = static_cast<std::size_t>(found - row_.begin());
    }
    return {row_begin_[r], row_begin_[r + 1]};
}

} // namespace farfield
