// Rules of the fast Gauss transform's grid: along one axis, windows as polynomials and the row T give a
// Gaussian and its derivative to the errors that the rule states. In long double, from the definition.
#include "sums/gauss/grid/rules.h"
#include "sums/gauss/grid/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

namespace farfield {
namespace {

/// The taps of a point at x, in grid units, or their slopes.
struct Touched {
    std::int64_t first;
    std::vector<long double> taps;

    Touched(const GridWindow& window, const std::vector<double>& coefficients, int degree, long double x)
        : first(static_cast<std::int64_t>(std::ceil(x - 0.5L * window.width))) {
        const long double u = 2.0L * (static_cast<long double>(first) - x) + window.width - 1.0L;
        for (int tap = 0; tap < window.width; ++tap) {
            long double sum = 0.0L;
            for (int k = 0; k <= degree; ++k)
                sum = sum * u + coefficients[static_cast<std::size_t>(k * window.columns + tap)];
            taps.push_back(sum);
        }
    }
};

long double folded(const GridRule& rule, const Touched& source, const Touched& target) {
    long double sum = 0.0L;
    for (std::size_t i = 0; i < source.taps.size(); ++i)
        for (std::size_t k = 0; k < target.taps.size(); ++k) {
            const auto apart = std::abs(source.first + static_cast<std::int64_t>(i) - target.first -
                                        static_cast<std::int64_t>(k));
            if (apart <= rule.reach)
                sum += source.taps[i] * rule.taps[static_cast<std::size_t>(apart)] * target.taps[k];
        }
    return sum;
}

TEST(GaussGrid, EveryRuleIsAsAccurateAsItSays) {
    for (const auto& rule : grid_rules()) {
        SCOPED_TRACE("width " + std::to_string(rule.width) + ", ratio " + std::to_string(rule.ratio));
        const GridWindow window(rule);
        long double worst = 0.0L, worst_slope = 0.0L;
        for (long double x = 0.013L; x < 1.0L; x += 0.0717L) {
            const Touched source(window, window.value, window.degree, x);
            for (long double r = -9.0L; r <= 9.0L; r += 0.0331L) { // in σ
                const long double y = x + r * rule.ratio;
                const Touched target(window, window.value, window.degree, y);
                const Touched slope(window, window.slope, window.degree - 1, y);
                const long double value = std::exp(-0.5L * r * r);
                worst = std::max(worst, std::abs(folded(rule, source, target) - value));
                worst_slope =
                    std::max(worst_slope, std::abs(folded(rule, source, slope) * rule.ratio + r * value));
            }
        }
        EXPECT_LE(worst, rule.error);
        EXPECT_GT(worst, 0.1 * rule.error);
        EXPECT_LE(worst_slope, rule.gradient_error);
    }
}

TEST(GaussGrid, RulesReachFromTwoDigitsToFourteen) {
    double least = 1.0, most = 0.0;
    for (const auto& rule : grid_rules()) {
        least = std::min(least, rule.error);
        most = std::max(most, rule.error);
        EXPECT_GE(rule.width, 3);
        EXPECT_LE(rule.width, most_grid_width);
        EXPECT_LE(rule.reach, most_grid_reach);
    }
    EXPECT_LT(least, 1e-14);
    EXPECT_GT(most, 5e-3);
}

} // namespace
} // namespace farfield
