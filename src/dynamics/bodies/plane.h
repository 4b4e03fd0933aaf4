// Arrays of vortices: N×3 with z = 0, of which sums in the plane take x and y.
#pragma once

#include <span>
#include <vector>

namespace farfield {

/// x and y (N×2) of N×3 numbers.
inline std::vector<double> in_plane(std::span<const double> rows) {
    std::vector<double> out;
    out.reserve(rows.size() / 3 * 2);
    for (std::size_t i = 0; i < rows.size(); i += 3) out.insert(out.end(), {rows[i], rows[i + 1]});
    return out;
}

} // namespace farfield
