// What kernels of a GPU do for sums of Gaussians, on the host: taps in pairs, places on a grid, and which way
// a sum takes there.
#include "sums/gauss/gpu_shape.h"
#include "sums/gauss/grid/paired_window.h"
#include "sums/gauss/grid/placing.h"
#include "sums/gauss/grid/widths.h"
#include "sums/kernels/gauss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace farfield {
namespace {

long double window_of(const GridRule& rule, long double z) {
    const long double rest = 1.0L - 4.0L * z * z / (static_cast<long double>(rule.width) * rule.width);
    return rest > 0.0L ? std::exp(rule.beta * (std::sqrt(rest) - 1.0L)) : 0.0L;
}

/// What the best polynomial of this degree misses: the window's edge, where its root is steep.
double polynomial_error(const GridRule& rule) { return 4.0 * std::exp(-rule.beta) + 0.3 * rule.error; }

template <class Real, int Width>
void expect_taps(const GridRule& rule) {
    const GridWindow window(rule, beyond_width<Real>);
    const PairedWindow<Real, Width> paired(window);
    const double rounding = sizeof(Real) == 8 ? 1e-15 : 4e-7;
    for (double u = -1.0; u <= 1.0; u += 0.037) {
        Real taps[Width], slopes[Width];
        paired_taps(paired.value, static_cast<Real>(u), Real(1), taps);
        paired_taps(paired.slope, static_cast<Real>(u), Real(-1), slopes);
        for (int tap = 0; tap < Width; ++tap) {
            const long double z = tap + 0.5L * (u + 1.0L) - 0.5L * Width;
            EXPECT_NEAR(static_cast<double>(taps[tap]), static_cast<double>(window_of(rule, z)),
                        polynomial_error(rule) + rounding)
                << "u " << u << ", tap " << tap;
            long double slope = 0.0L; // of the polynomial that the loops of CPUs have
            for (int k = 0; k < window.degree; ++k)
                slope = slope * u + window.slope[static_cast<std::size_t>(k * window.columns + tap)];
            EXPECT_NEAR(static_cast<double>(slopes[tap]), static_cast<double>(slope), 30.0 * rounding)
                << "u " << u << ", tap " << tap;
        }
    }
}

template <class Real, int Width, int Most>
void expect_taps_from(const GridRule& rule) {
    if (rule.width == Width)
        expect_taps<Real, Width>(rule);
    else if constexpr (Width < Most)
        expect_taps_from<Real, Width + 1, Most>(rule);
}

TEST(GaussOnGpuFormulas, TapsInPairsAreThoseOfTheWindow) {
    for (const auto& rule : grid_rules()) {
        SCOPED_TRACE("width " + std::to_string(rule.width) + ", ratio " + std::to_string(rule.ratio));
        expect_taps_from<float, least_grid_width, most_float_width>(rule);
        expect_taps_from<double, least_double_width, most_double_width>(rule);
    }
}

TEST(GaussOnGpuFormulas, PointsArePlacedWhereTheirTapsAre) {
    std::mt19937_64 engine(4);
    for (const double offset : {0.0, 1e3})
        for (const double sigma : {0.003, 0.7}) {
            const auto& rule = grid_rules()[5];
            SumProblem problem;
            problem.dimension = 3;
            problem.sigma = sigma;
            GaussExtent extent;
            for (std::size_t k = 0; k < 3; ++k) {
                extent.low[k] = offset - 0.5;
                extent.high[k] = offset + static_cast<double>(k);
            }
            const auto frame = choose_gauss_frame(problem, extent);
            const GridPlacing placing(rule, extent, frame, 3);
            EXPECT_EQ(placing.length[0] % 4, 0);
            const long double spacing = static_cast<long double>(sigma) / rule.ratio;
            for (int axis = 0; axis < 3; ++axis)
                for (int n = 0; n < 2000; ++n) {
                    const auto k = static_cast<std::size_t>(axis);
                    const double x =
                        n == 0 ? extent.low[k]
                        : n == 1
                            ? extent.high[k]
                            : std::uniform_real_distribution<double>(extent.low[k], extent.high[k])(engine);
                    const auto [cell, u] = placed(placing, axis, x);
                    ASSERT_GE(cell, 0);
                    ASSERT_LE(cell + rule.width, placing.length[axis]);
                    const long double first = static_cast<long double>(cell) + placing.base[axis];
                    const long double at = (static_cast<long double>(x) - frame.centre[k]) / spacing;
                    EXPECT_NEAR(u, static_cast<double>(2.0L * (first - at) + rule.width - 1.0L), 2e-12);
                    EXPECT_LT(std::abs(u), 1.0 + 1e-11);
                }
        }
}

struct Chosen {
    SumProblem problem;
    GpuGaussShape shape;
};

Chosen chosen(int dimension, double sigma, double tolerance, std::int64_t points = 1000000,
              GaussStrategy wanted = GaussStrategy::automatic) {
    Chosen out;
    out.problem.kernel = &gauss_kernel();
    out.problem.dimension = dimension;
    out.problem.self = false;
    out.problem.sources = out.problem.targets = points;
    out.problem.sigma = sigma;
    GaussExtent extent;
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) extent.high[k] = 1.0;
    SumOptions options;
    options.outputs = Output::potential;
    out.shape = gpu_gauss_shape(out.problem, options, extent, choose_gauss_frame(out.problem, extent),
                                tolerance, wanted);
    return out;
}

TEST(GaussOnGpuFormulas, AWayIsChosenByToleranceAndWidth) {
    for (int d = 1; d <= 3; ++d)
        for (const double tolerance : {1e-2, 1e-3, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12, 1e-15}) {
            const auto wide = chosen(d, 0.1, tolerance).shape;
            if (tolerance > 1e-13) {
                ASSERT_NE(wide.rule, nullptr) << d << " " << tolerance;
                EXPECT_LE(wide.rule->error, tolerance);
                EXPECT_FALSE(wide.sparse);
            } else {
                EXPECT_EQ(wide.rule, nullptr);
            }
            EXPECT_EQ(wide.wide, d == 1 || tolerance < 1e-6) << d << " " << tolerance;
            EXPECT_EQ(chosen(d, 0.1, tolerance, 1000, GaussStrategy::pairs).shape.rule, nullptr);
        }
    EXPECT_EQ(chosen(3, 1e-4, 1e-6).shape.rule, nullptr);
    EXPECT_TRUE(chosen(3, 0.01, 1e-6).shape.sparse);
    EXPECT_FALSE(chosen(3, 0.05, 1e-6).shape.sparse);
}

} // namespace
} // namespace farfield
