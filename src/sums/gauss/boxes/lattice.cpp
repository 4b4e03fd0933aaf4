#include "sums/gauss/boxes/lattice.h"

#include "backend/threads/parallel.h"
#include "sums/points/power_of_two.h"

#include <algorithm>
#include <cmath>

namespace farfield {

GaussLattice::GaussLattice(const GaussExtent& extent, const GaussFrame& frame, int dimensions,
                           double wanted_side)
    : dimension(dimensions) {
    const double most = std::exp2(60 / dimensions);
    count.fill(1);
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
        low[k] = std::ldexp(extent.low[k] - frame.centre[k], frame.exponent);
        const double length = std::ldexp(extent.high[k] - frame.centre[k], frame.exponent) - low[k];
        side[k] = std::max(wanted_side, length / (most - 1.0));
        count[k] = static_cast<std::int64_t>(length / side[k]) + 1;
    }
}

std::array<std::int64_t, most_dimensions> GaussLattice::box_of(std::uint64_t key) const {
    std::array<std::int64_t, most_dimensions> box{};
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
        box[k] = static_cast<std::int64_t>(key % static_cast<std::uint64_t>(count[k]));
        key /= static_cast<std::uint64_t>(count[k]);
    }
    return box;
}

SortedKeys GaussLattice::sorted(std::span<const double> points, const GaussFrame& frame, int threads) const {
    const auto d = static_cast<std::size_t>(dimension);
    RawVector<std::uint64_t> keys(points.size() / d);
    const PowerOfTwo scale(frame.exponent);
    std::array<double, most_dimensions> inverse{};
    for (std::size_t k = 0; k < d; ++k) inverse[k] = 1.0 / side[k];
    parallel_parts(threads, keys.size(), [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            std::uint64_t key = 0;
            for (std::size_t k = d; k-- > 0;) {
                const double x = scale.product(points[d * i + k] - frame.centre[k]);
                const auto box = static_cast<std::int64_t>((x - low[k]) * inverse[k]);
                key = key * static_cast<std::uint64_t>(count[k]) +
                      static_cast<std::uint64_t>(std::clamp<std::int64_t>(box, 0, count[k] - 1));
            }
            keys[i] = key;
        }
    });
    return sort_keys(std::move(keys), threads);
}

} // namespace farfield
