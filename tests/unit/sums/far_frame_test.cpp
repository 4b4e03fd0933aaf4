// Order and units of the sum on tensor cores, which need no GPU: the curve's steps, and r² put together from
// the parts that far_frame.h makes of it against the distance itself.
#include "sums/direct/cuda/tensor/far_frame.h"
#include "sums/direct/cuda/tensor/hilbert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace farfield::cuda {
namespace {

TEST(Hilbert, ConsecutiveCellsTouch) {
    // any aligned cube of cells is one stretch of the curve
    constexpr std::uint32_t size = 16;
    for (const auto& corner : {std::array<std::uint32_t, 3>{0, 0, 0},
                               {(1U << 21) - size, 0, 1U << 20},
                               {size * 4711, size * 815, size * 99}}) {
        std::vector<std::pair<std::uint64_t, std::array<std::uint32_t, 3>>> cells;
        for (std::uint32_t x = 0; x < size; ++x)
            for (std::uint32_t y = 0; y < size; ++y)
                for (std::uint32_t z = 0; z < size; ++z) {
                    const std::array cell{corner[0] + x, corner[1] + y, corner[2] + z};
                    cells.emplace_back(hilbert_key(cell[0], cell[1], cell[2]), cell);
                }
        std::sort(cells.begin(), cells.end());
        for (std::size_t k = 1; k < cells.size(); ++k) {
            ASSERT_EQ(cells[k].first, cells[k - 1].first + 1);
            int steps = 0;
            for (std::size_t a = 0; a < 3; ++a)
                steps +=
                    std::abs(static_cast<int>(cells[k].second[a]) - static_cast<int>(cells[k - 1].second[a]));
            ASSERT_EQ(steps, 1) << "after cell " << k - 1;
        }
    }
    EXPECT_LT(hilbert_key((1U << 21) - 1, (1U << 21) - 1, (1U << 21) - 1), std::uint64_t{1} << 63);
}

Tile tile_of(std::array<float, 3> low, std::array<float, 3> high) {
    Tile tile{};
    double half_diagonal2 = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        tile.low[k] = low[k], tile.high[k] = high[k];
        half_diagonal2 += 0.25 * std::pow(double{high[k]} - double{low[k]}, 2);
    }
    tile.size = size_above(static_cast<float>(std::sqrt(half_diagonal2)));
    tile.strength = 1;
    return tile;
}

struct Parts {
    std::array<double, 3> x, u;
    double n;
};
Parts random_parts(const Tile& tile, const FarCoefficients& c, std::mt19937& engine) {
    Parts parts{};
    double norm = 0, gradient = 0;
    for (int k = 0; k < 3; ++k) {
        const auto a = static_cast<std::size_t>(k);
        parts.x[a] = std::uniform_real_distribution<double>(tile.low[k], tile.high[k])(engine);
        parts.u[a] = (parts.x[a] - double{centre(tile, k)}) / double{tile.size};
        norm += parts.u[a] * parts.u[a];
        gradient += double{c.gradient[k]} * parts.u[a];
    }
    EXPECT_LE(norm, 1.0);
    parts.n = double{c.constant} + double{c.square} * norm + gradient;
    return parts;
}

TEST(FarFrame, PartsMakeUpTheDistance) {
    std::mt19937 engine(1);
    const auto near = tile_of({1, 2, 3}, {1.5F, 2.25F, 4});
    const std::array others{tile_of({11, 2, 3}, {12, 9, 4}), tile_of({-8e3F, 5, 6}, {-7e3F, 700, 60}),
                            tile_of({1.0e-3F, 2, 40}, {1.1e-3F, 2.0001F, 40.0001F}),
                            tile_of({40, 40, 40}, {40, 40, 40})};
    for (const auto& other : others)
        for (const double softening : {0.0, 0.1, 1e4}) {
            ASSERT_TRUE(are_far(near, other) && are_far(other, near));
            const auto softening2 = static_cast<float>(softening * softening);
            const auto pair = far_pair(near, other, softening2);
            const auto rows = row_coefficients(pair, near, other, softening2);
            const auto columns = column_coefficients(pair, near);
            for (int trial = 0; trial < 100; ++trial) {
                const auto j = random_parts(other, rows, engine), i = random_parts(near, columns, engine);
                double r2 = double{softening2}, product = 0;
                for (std::size_t k = 0; k < 3; ++k) {
                    r2 += (j.x[k] - i.x[k]) * (j.x[k] - i.x[k]);
                    product += double{rows.factor} * j.u[k] * double{columns.factor} * i.u[k];
                }
                const double expected = double{pair.root} * double{pair.root} * r2;
                EXPECT_LE(expected, 1.0 + 1e-6);
                EXPECT_GE(expected, 0.25 / (double{far_ratio2} + 1e-3));
                // coefficients are floats; cancellation is at most far_ratio2
                EXPECT_NEAR(j.n + i.n + product, expected, 4e-7 * std::max(expected, 0.25));
            }
        }
}

TEST(FarFrame, TilesThatTouchAreNear) {
    const auto tile = tile_of({0, 0, 0}, {1, 1, 1});
    EXPECT_FALSE(are_far(tile, tile));
    EXPECT_FALSE(are_far(tile, tile_of({1, 0, 0}, {2, 1, 1})));
    // gap 1/4 against a diagonal of √(9/4)² + 1 + 1: (9/4)² + 2 > 32/16
    EXPECT_FALSE(are_far(tile, tile_of({1.25F, 0, 0}, {2.25F, 1, 1})));
    // gap 1: 9 + 2 ≤ 32
    EXPECT_TRUE(are_far(tile, tile_of({2, 0, 0}, {3, 1, 1})));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(are_far(tile, tile_of({nan, nan, nan}, {nan, nan, nan})));
}

TEST(FarFrame, SizesAndTheirReciprocalsAreNumbers) {
    for (const float value : {0.0F, 1e-38F, 1e-20F, 0.75F, 1.0F, 1e20F, 3e38F}) {
        const float size = size_above(value);
        EXPECT_TRUE(std::isnormal(size) && std::isnormal(1.0F / size)) << value;
        if (value > 1e-37F && value < 1e37F) {
            EXPECT_LT(value / size, 1.0F);
            EXPECT_GE(value / size, 0.5F);
        }
    }
}

} // namespace
} // namespace farfield::cuda
