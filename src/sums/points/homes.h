// Where the points that a rank gives to a sum are summed over.
#pragma once

#include <cstdint>
#include <vector>

namespace farfield {

/// Rank r sums over given points order[begins[r]] … order[begins[r + 1] − 1]. The order is that of the sum's
/// tree: points that follow each other are close. Empty: it does not matter who gives which.
struct Homes {
    std::vector<std::int32_t> order;
    std::vector<std::int64_t> begins;
};

} // namespace farfield
