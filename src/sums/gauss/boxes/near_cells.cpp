#include "sums/gauss/boxes/near_cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace farfield {
namespace {

/// The next combination of offsets of all axes but the first; false after the last.
bool next_row(std::array<std::int64_t, most_dimensions>& offset,
              const std::array<std::int64_t, most_dimensions>& reach, int dimension) {
    for (std::size_t k = 1; k < static_cast<std::size_t>(dimension); ++k) {
        if (++offset[k] <= reach[k]) return true;
        offset[k] = -reach[k];
    }
    return false;
}

} // namespace

NearCells::NearCells(const GaussShape& shape, const GaussExtent& extent, const GaussFrame& frame,
                     int dimension)
    : lattice_(extent, frame, dimension, shape.side), cutoff_(shape.cutoff) {}

// Cells of a row along the first axis lie one after the other, and so do their points.
std::vector<BlockRange> NearCells::sources(std::span<const std::uint64_t> keys, std::uint64_t key) const {
    const auto box = lattice_.box_of(key);
    std::array<std::int64_t, most_dimensions> reach{}, offset{};
    for (std::size_t k = 0; k < static_cast<std::size_t>(lattice_.dimension); ++k) {
        reach[k] = std::min<std::int64_t>(lattice_.count[k],
                                          static_cast<std::int64_t>(std::ceil(cutoff_ / lattice_.side[k])));
        offset[k] = -reach[k];
    }
    std::vector<BlockRange> ranges;
    const auto place = [&](std::uint64_t at) {
        return static_cast<std::int32_t>(std::lower_bound(keys.begin(), keys.end(), at) - keys.begin());
    };
    do {
        double apart2 = 0.0;
        bool inside = true;
        std::uint64_t row = 0;
        for (auto k = static_cast<std::size_t>(lattice_.dimension); k-- > 1;) {
            const auto at = box[k] + offset[k];
            inside = inside && at >= 0 && at < lattice_.count[k];
            const double gap = std::max<double>(0.0, std::abs(static_cast<double>(offset[k])) - 1.0);
            apart2 += gap * gap * lattice_.side[k] * lattice_.side[k];
            row = row * static_cast<std::uint64_t>(lattice_.count[k]) + static_cast<std::uint64_t>(at);
        }
        const double left2 = cutoff_ * cutoff_ - apart2;
        if (!inside || left2 < 0.0) continue;
        const auto along = static_cast<std::int64_t>(std::sqrt(left2) / lattice_.side[0]) + 1;
        const auto first = static_cast<std::uint64_t>(std::max<std::int64_t>(0, box[0] - along));
        const auto last = static_cast<std::uint64_t>(std::min(lattice_.count[0] - 1, box[0] + along));
        row *= static_cast<std::uint64_t>(lattice_.count[0]);
        const BlockRange range{place(row + first), place(row + last + 1)};
        if (range.size() > 0) ranges.push_back(range);
    } while (next_row(offset, reach, lattice_.dimension));
    return ranges;
}

KeyRange NearCells::layers_near(const KeyRange& keys) const {
    const auto last = static_cast<std::size_t>(lattice_.dimension) - 1;
    std::uint64_t layer = 1; // keys of one
    for (std::size_t k = 0; k < last; ++k) layer *= static_cast<std::uint64_t>(lattice_.count[k]);
    const auto layers = static_cast<std::uint64_t>(lattice_.count[last]);
    if (keys.begin >= std::min(keys.end, layer * layers)) return {keys.begin, keys.begin};
    const auto reach = static_cast<std::uint64_t>(
        std::min<double>(static_cast<double>(layers), std::floor(cutoff_ / lattice_.side[last]) + 1.0));
    const auto first = keys.begin / layer, end = std::min((keys.end - 1) / layer + 1, layers);
    return {(first - std::min(first, reach)) * layer, std::min(end + reach, layers) * layer};
}

} // namespace farfield
