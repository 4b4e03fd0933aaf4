// Points in the cube [0, 1)³ cut into k³ blocks, each acted on by itself and the up to 26 around it: what
// tests and benches of the loops over blocks compute. Nothing of the library's formulas.
#pragma once

#include "sums/points/block_lists.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace farfield::block_grid {

struct Grid {
    std::vector<double> points;    ///< N×3, sorted by block
    std::vector<double> strengths; ///< N, in [0.5, 1.5], of both signs where asked
    std::vector<double> centres;   ///< blocks×3
    std::vector<BlockRange> blocks;
    std::vector<std::int32_t> first; ///< all neighbours but the block itself
    std::vector<std::int32_t> partners;

    [[nodiscard]] BlockLists lists(bool own = true) const { return {blocks, blocks, first, partners, own}; }
    [[nodiscard]] BlockLists lists(const BlockRows& rows, bool own = true) const {
        return {blocks, blocks, rows.first, rows.partners, own};
    }
};

inline void add_neighbours(Grid& grid, int k) {
    grid.first.assign(1, 0);
    for (int z = 0; z < k; ++z)
        for (int y = 0; y < k; ++y)
            for (int x = 0; x < k; ++x) {
                for (int c = std::max(0, z - 1); c <= std::min(k - 1, z + 1); ++c)
                    for (int b = std::max(0, y - 1); b <= std::min(k - 1, y + 1); ++b)
                        for (int a = std::max(0, x - 1); a <= std::min(k - 1, x + 1); ++a)
                            if (a != x || b != y || c != z) grid.partners.push_back((c * k + b) * k + a);
                grid.first.push_back(static_cast<std::int32_t>(grid.partners.size()));
            }
}

/// Uniform points; every number is a float where `to_float`.
inline Grid uniform(std::int64_t n, int k, std::uint64_t seed, bool to_float, bool both_signs = false) {
    std::mt19937_64 engine(seed);
    const auto random = [&] {
        const double value = static_cast<double>(engine() >> 11) * 0x1p-53;
        return to_float ? static_cast<double>(static_cast<float>(value * 0.999999)) : value;
    };
    std::vector<double> points(static_cast<std::size_t>(3 * n));
    for (auto& x : points) x = random();
    const auto cells =
        static_cast<std::size_t>(k) * static_cast<std::size_t>(k) * static_cast<std::size_t>(k);
    const auto block_of = [&](std::size_t i) {
        std::size_t cell = 0;
        for (std::size_t a = 3; a-- > 0;)
            cell = cell * static_cast<std::size_t>(k) + static_cast<std::size_t>(points[3 * i + a] * k);
        return cell;
    };
    std::vector<std::int32_t> ends(cells + 1, 0);
    for (std::size_t i = 0; i < points.size() / 3; ++i) ++ends[block_of(i) + 1];
    Grid grid;
    for (std::size_t b = 0; b < cells; ++b) {
        ends[b + 1] += ends[b];
        grid.blocks.push_back({ends[b], ends[b + 1]});
        std::size_t rest = b;
        for (int a = 0; a < 3; ++a, rest /= static_cast<std::size_t>(k))
            grid.centres.push_back((static_cast<double>(rest % static_cast<std::size_t>(k)) + 0.5) / k);
    }
    grid.points.resize(points.size());
    for (std::size_t i = 0; i < points.size() / 3; ++i) {
        const auto to = static_cast<std::size_t>(ends[block_of(i)]++);
        std::copy_n(points.begin() + static_cast<std::ptrdiff_t>(3 * i), 3,
                    grid.points.begin() + static_cast<std::ptrdiff_t>(3 * to));
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const double q = 0.5 + random();
        grid.strengths.push_back(both_signs && random() < 0.5 ? -q : q);
        if (to_float) grid.strengths.back() = static_cast<double>(static_cast<float>(grid.strengths.back()));
    }
    add_neighbours(grid, k);
    return grid;
}

} // namespace farfield::block_grid
