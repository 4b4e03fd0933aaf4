// Growth of matrices whose eigenvalues are known.
#include "stencil/analysis/stability/growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace farfield::stencil;

namespace {

ComplexMatrix matrix(std::initializer_list<std::initializer_list<std::complex<double>>> rows) {
    ComplexMatrix out(rows.size());
    std::size_t i = 0;
    for (const auto& row : rows) {
        std::size_t j = 0;
        for (const auto& value : row) out.at(i, j++) = value;
        ++i;
    }
    return out;
}

constexpr double accuracy = 3e-5; // as the header promises

TEST(Growth, IsTheLargestModulusOfAnEigenvalue) {
    using namespace std::complex_literals;
    EXPECT_NEAR(growth_factor(matrix({{3.0}})), 3, accuracy);
    EXPECT_NEAR(growth_factor(matrix({{0.2, 5.0}, {0.0, -0.7i}})), 0.7, accuracy);
    EXPECT_NEAR(growth_factor(matrix({{1.0001, 1e3}, {0.0, 0.5}})), 1.0001, accuracy);
    EXPECT_NEAR(growth_factor(matrix({{0.6, 0.8}, {-0.8, 0.6}})), 1, accuracy);
    EXPECT_EQ(growth_factor(matrix({{0.0, 7.0}, {0.0, 0.0}})), 0);
    EXPECT_NEAR(growth_factor(matrix({{1e200, 1.0}, {1.0, 1e200}})), 1e200, 1e196);
    EXPECT_FALSE(std::isfinite(growth_factor(matrix({{std::numeric_limits<double>::infinity()}}))));
}

// Powers of these grow as n, n² and n³; their eigenvalues would be found as 1 + 1e-16^(1/2), …^(1/4).
TEST(Growth, AsAPowerOfTheStepsIsNone) {
    EXPECT_NEAR(growth_factor(matrix({{1.0, 1.0}, {0.0, 1.0}})), 1, accuracy);
    EXPECT_NEAR(growth_factor(matrix({{1.0, 4.0, 0.0}, {0.0, 1.0, 4.0}, {0.0, 0.0, 1.0}})), 1, accuracy);
    EXPECT_NEAR(growth_factor(matrix({{1, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}, {0, 0, 0, 1}})), 1, accuracy);
}

// Leapfrog with s = (courant·sin(k/2))²: eigenvalues of modulus 1 for s ≤ 1, the larger one
// 2s − 1 + 2√(s² − s) beyond.
TEST(Growth, OfLeapfrogBeginsAtItsLimit) {
    const auto leapfrog = [](double s) {
        const double a = 2 * std::sqrt(s);
        return growth_factor(matrix({{1.0, -a}, {a, 1 - a * a}}));
    };
    for (const double s : {0.0, 0.3, 0.999, 1.0}) EXPECT_NEAR(leapfrog(s), 1, accuracy) << s;
    for (const double s : {1 + 1e-8, 1.0001, 1.5})
        EXPECT_NEAR(leapfrog(s), 2 * s - 1 + 2 * std::sqrt(s * s - s), accuracy * s) << s;
}

// Slow growth near 1 is told from none, also where two eigenvalues meet.
TEST(Growth, NearOneIsFoundToAMillionth) {
    const auto turning = [](double g) { return matrix({{0.6 * g, 0.8 * g}, {-0.8 * g, 0.6 * g}}); };
    for (const double g : {1 - 1e-4, 1.0, 1 + 2e-6, 1 + 1e-5, 1.0001})
        EXPECT_NEAR(growth_factor(turning(g)), g, 1e-6);
    EXPECT_NEAR(growth_factor(matrix({{1.0, 1.0}, {0.0, 1.0}})), 1, 1e-6);
    for (const double s : {0.3, 0.999, 1 - 1e-6, 1 - 1e-12, 1.0, 1 + 1e-10, 1 + 1e-9}) {
        const double a = 2 * std::sqrt(s);
        const double expected = s < 1 ? 1 : 2 * s - 1 + 2 * std::sqrt(s * s - s);
        EXPECT_NEAR(growth_factor(matrix({{1.0, -a}, {a, 1 - a * a}})), expected, 1e-6) << s - 1;
    }
}

// With `enough` a larger result is the same number, and a smaller one is not said to be more than enough.
TEST(Growth, IsFollowedOnlyAsFarAsNeeded) {
    for (const double g : {0.3, 0.99, 1.0, 1.00005, 1.0002, 1.5, 4.0}) {
        const auto turning = matrix({{0.6 * g, 0.8 * g, 9.0}, {-0.8 * g, 0.6 * g, 2.0}, {0.0, 0.0, 0.5 * g}});
        const double all = growth_factor(turning);
        EXPECT_NEAR(all, g, accuracy * g);
        for (const double enough : {0.2, 0.9, 1.0, 1.00009, 2.0, 5.0})
            EXPECT_EQ(growth_factor(turning, enough), std::max(all, enough)) << g << " " << enough;
    }
}

TEST(CoupledParts, AreCirclesOfDependence) {
    // 0 ↔ 1, 2 reads 1, 3 → 4 → 5 → 3, 6 alone
    std::vector<std::vector<bool>> depends(7, std::vector<bool>(7, false));
    for (const auto& [i, j] : {std::pair{0, 1}, {1, 0}, {2, 1}, {3, 4}, {4, 5}, {5, 3}, {2, 2}})
        depends[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = true;
    const std::vector<std::vector<std::size_t>> expected{{0, 1}, {2}, {3, 4, 5}, {6}};
    EXPECT_EQ(coupled_parts(depends), expected);
}

} // namespace
