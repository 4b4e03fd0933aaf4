// The kernels of the plane and of Gaussians through the reference method, against sums written here from the
// definitions, in long double: complex logarithms and powers, and exponentials.
//
// The reference adds 60 terms in double, each within a few ulp, so its relative error is below 60 · 4 · 2⁻⁵³
// = 2.7e-14 of the sum of magnitudes; 1e-13 of the largest value is asked for.
#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using Values = std::vector<double>;
using Complex = std::complex<long double>;
constexpr double tolerance = 1e-13;

Values uniform(std::size_t n, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> side(-1.0, 1.0);
    Values values(n);
    for (double& value : values) value = side(engine);
    return values;
}

ConstArrayView rows(const Values& values, int columns) {
    return matrix_view(std::span<const double>(values), columns);
}

void expect_near(const Values& got, const std::vector<long double>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    long double largest = 0.0L;
    for (const auto value : expected) largest = std::max(largest, std::abs(value));
    ASSERT_GT(largest, 0.0L);
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], static_cast<double>(expected[i]), tolerance * static_cast<double>(largest)) << i;
}

struct Expected {
    std::vector<long double> potential, vectors;
};

// φ = −Σ q ln|z − z_j|, w = Σ q/(z − z_j), field (Re w, −Im w).
Expected in_the_plane(const Values& sources, const Values& strengths, const Values& targets, bool self) {
    Expected out;
    for (std::size_t i = 0; i < targets.size() / 2; ++i) {
        const Complex z(targets[2 * i], targets[2 * i + 1]);
        Complex potential = 0.0L;
        Complex w = 0.0L;
        for (std::size_t j = 0; j < sources.size() / 2; ++j) {
            if (self && i == j) continue;
            const Complex difference = z - Complex(sources[2 * j], sources[2 * j + 1]);
            const Complex q(strengths[2 * j], strengths[2 * j + 1]);
            potential -= q * std::log(std::abs(difference));
            w += q / difference;
        }
        out.potential.insert(out.potential.end(), {potential.real(), potential.imag()});
        out.vectors.insert(out.vectors.end(), {w.real(), -w.imag()});
    }
    return out;
}

// φ = Σ q exp(−r²/2σ²) over all sources, the point itself too, and ∇φ.
Expected of_gaussians(const Values& sources, const Values& weights, const Values& targets, std::size_t d,
                      long double sigma) {
    Expected out;
    for (std::size_t i = 0; i < targets.size() / d; ++i) {
        long double potential = 0.0L;
        std::vector<long double> gradient(d, 0.0L);
        for (std::size_t j = 0; j < weights.size(); ++j) {
            long double exponent = 0.0L;
            for (std::size_t k = 0; k < d; ++k) {
                const long double u =
                    (static_cast<long double>(targets[d * i + k]) - sources[d * j + k]) / sigma;
                exponent -= 0.5L * u * u;
            }
            const long double term = weights[j] * std::exp(exponent);
            potential += term;
            for (std::size_t k = 0; k < d; ++k)
                gradient[k] += term * (sources[d * j + k] - static_cast<long double>(targets[d * i + k])) /
                               (sigma * sigma);
        }
        out.potential.push_back(potential);
        out.vectors.insert(out.vectors.end(), gradient.begin(), gradient.end());
    }
    return out;
}

TEST(Laplace2d, HasTheLogarithmAndComplexStrengths) {
    const auto sources = uniform(120, 1);
    const auto strengths = uniform(120, 2);
    const auto targets = uniform(34, 3);
    const SumOptions options{.kernel = Kernel::laplace2d, .method = Method::reference};
    const auto self = sum(rows(sources, 2), rows(strengths, 2), options);
    const auto expected = in_the_plane(sources, strengths, sources, true);
    expect_near(self.potential, expected.potential);
    expect_near(self.field, expected.vectors);
    const auto apart = sum(rows(sources, 2), rows(targets, 2), rows(strengths, 2), options);
    const auto elsewhere = in_the_plane(sources, strengths, targets, false);
    expect_near(apart.potential, elsewhere.potential);
    expect_near(apart.field, elsewhere.vectors);
    EXPECT_TRUE(apart.gradient.empty());
}

TEST(Gauss, HasSelfTermAndGradientInOneToSixDimensions) {
    for (int d = 1; d <= 6; ++d) {
        SCOPED_TRACE(d);
        const auto n = static_cast<std::size_t>(d);
        const auto sources = uniform(60 * n, 4);
        const auto weights = uniform(60, 5);
        const auto targets = uniform(7 * n, 6);
        const SumOptions options{.kernel = Kernel::gauss, .method = Method::reference, .sigma = 0.7};
        const auto self = sum(rows(sources, d), rows(weights, 1), options);
        const auto expected = of_gaussians(sources, weights, sources, n, 0.7);
        expect_near(self.potential, expected.potential);
        expect_near(self.gradient, expected.vectors);
        const auto apart = sum(rows(sources, d), rows(targets, d), rows(weights, 1), options);
        const auto elsewhere = of_gaussians(sources, weights, targets, n, 0.7);
        expect_near(apart.potential, elsewhere.potential);
        expect_near(apart.gradient, elsewhere.vectors);
        EXPECT_TRUE(apart.field.empty());
    }
}

TEST(Gauss, CountsAPointOnItself) {
    const Values one{0.25, -1.0};
    const Values weight{3.0};
    const auto alone = sum(rows(one, 2), rows(weight, 1),
                           {.kernel = Kernel::gauss, .method = Method::reference, .sigma = 0.1});
    EXPECT_EQ(alone.potential, Values{3.0});
    EXPECT_EQ(alone.gradient, (Values{0.0, 0.0}));
}

} // namespace
} // namespace farfield
