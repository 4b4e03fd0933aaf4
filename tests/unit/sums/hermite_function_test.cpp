// Hermite functions of the fast Gauss transform against their definition in long double, and the three
// expansions of a Gaussian that are made of them.
#include "sums/gauss/boxes/hermite_function.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace farfield {
namespace {

constexpr int most = 96; ///< of a translation between expansions of 48 terms

/// (−1)ⁿ e^(v²/2) dⁿ/dvⁿ e^(−v²/2) = Σ_k (−1)^k n!/(k! (n − 2k)! 2^k) v^(n−2k).
long double hermite_from_its_sum(int n, long double v) {
    long double sum = 0.0L;
    for (int k = 0; 2 * k <= n; ++k) {
        const long double size = std::exp(std::lgamma(n + 1.0L) - std::lgamma(k + 1.0L) -
                                          std::lgamma(n - 2 * k + 1.0L) - k * std::log(2.0L));
        sum += (k % 2 == 0 ? size : -size) * std::pow(v, static_cast<long double>(n - 2 * k));
    }
    return sum;
}

std::vector<double> functions_at(double v) {
    std::vector<double> out(most);
    hermite_functions(v, most, out.data());
    return out;
}

std::vector<double> powers_at(double u) {
    std::vector<double> out(most);
    scaled_powers(u, most, [&](int n, double value) { out[static_cast<std::size_t>(n)] = value; });
    return out;
}

TEST(HermiteFunction, IsWhatItsDefinitionSays) {
    for (const double v : {-6.5, -2.0, -0.3, 0.0, 0.7, 1.9, 5.0}) {
        const auto found = functions_at(v);
        for (int n = 0; n <= 16; ++n) { // the sum loses digits beyond
            const long double exact = hermite_from_its_sum(n, v) * std::exp(-0.5L * v * v) /
                                      std::sqrt(std::tgamma(static_cast<long double>(n + 1)));
            EXPECT_NEAR(found[static_cast<std::size_t>(n)], static_cast<double>(exact), 2e-14)
                << n << " " << v;
        }
    }
}

TEST(HermiteFunction, StaysBelowCramersBound) {
    double nearest = 0.0;
    for (double v = -14.0; v <= 14.0; v += 0.037)
        for (const double value : functions_at(v)) {
            const double bound = cramer_constant * std::exp(-0.25 * v * v);
            EXPECT_LE(std::abs(value), bound * (1.0 + 1e-12)) << v;
            nearest = std::max(nearest, std::abs(value) / bound);
        }
    EXPECT_GT(nearest, 0.9);
}

TEST(HermiteFunction, IsFiniteWhereverPointsLie) {
    for (const double v : {0.0, 1e-300, 20.0, 38.0, -37.0})
        for (const double value : functions_at(v)) EXPECT_TRUE(std::isfinite(value)) << v;
}

TEST(HermiteFunction, ExpandsAGaussianAboutEitherCentre) {
    for (const double u : {-1.0, -0.2, 0.6})
        for (double v = -5.0; v <= 5.0; v += 0.61) {
            const auto powers = powers_at(u), of_source = functions_at(u);
            const auto functions = functions_at(v), of_target = powers_at(v / 5.0);
            double hermite = 0.0, slope = 0.0, taylor = 0.0;
            for (std::size_t n = 0; n < 48; ++n) {
                hermite += powers[n] * functions[n];
                slope -= powers[n] * std::sqrt(static_cast<double>(n + 1)) * functions[n + 1];
                taylor += of_target[n] * of_source[n];
            }
            const double value = std::exp(-0.5 * (v - u) * (v - u));
            EXPECT_NEAR(hermite, value, 1e-14);
            EXPECT_NEAR(slope, (u - v) * value, 1e-14);
            EXPECT_NEAR(taylor, std::exp(-0.5 * (v / 5.0 - u) * (v / 5.0 - u)), 1e-14);
        }
}

TEST(HermiteFunction, TranslatesToATaylorExpansion) {
    for (const double apart : {-4.0, -1.0, 0.0, 2.0, 6.0})
        for (const double u : {-0.5, 0.3})
            for (const double w : {-0.5, 0.1, 0.45}) {
                const auto at_source = powers_at(u), at_target = powers_at(w), between = functions_at(apart);
                double sum = 0.0;
                for (int n = 0; n < 30; ++n)
                    for (int m = 0; m < 30; ++m) {
                        const double ways = std::exp(
                            0.5 * (std::lgamma(n + m + 1.0) - std::lgamma(n + 1.0) - std::lgamma(m + 1.0)));
                        sum += at_source[static_cast<std::size_t>(n)] *
                               at_target[static_cast<std::size_t>(m)] * (m % 2 == 0 ? ways : -ways) *
                               between[static_cast<std::size_t>(n + m)];
                    }
                const double r = apart + w - u;
                EXPECT_NEAR(sum, std::exp(-0.5 * r * r), 1e-13);
            }
}

} // namespace
} // namespace farfield
