// The formulas of `farfield reproduce hermite` on the host. Oracles: the Gaussians of a cluster's sources,
// which its series converges to; Rodrigues' formula for Hermite polynomials by their explicit sum; and
// Hermite functions in long double for each loop. Tolerance of floats: 2⁻²⁴ = 6e-8 for each rounded
// coordinate, which |d/dt e^(−t²)| < 1 passes on, and sums of p² terms whose sizes add up to e^(4u²) = 2.7 of
// Σ|q| at most.
#include "backend/simd/isa.h"
#include "studies/hermite/cpu/loops.h"
#include "studies/hermite/powers.h"
#include "studies/hermite/problem.h"
#include "studies/hermite/series.h"

#include <farfield/device.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace farfield::hermite {
namespace {

constexpr double most_error = 2e-6;

long double factorial(int n) { return std::tgamma(static_cast<long double>(n) + 1); }

// H_n(t) = n! Σ_m (−1)^m (2t)^(n−2m)/(m! (n − 2m)!)
long double explicit_hermite(int n, long double t) {
    long double sum = 0;
    for (int m = 0; 2 * m <= n; ++m)
        sum += (m % 2 == 0 ? 1 : -1) * std::pow(2 * t, static_cast<long double>(n - 2 * m)) /
               (factorial(m) * factorial(n - 2 * m));
    return factorial(n) * sum;
}

// The sum over the sources themselves, which no series is in.
double gaussians_at(const Problem& problem, std::size_t target) {
    const auto scale = static_cast<double>(problem.inverse_width);
    double sum = 0;
    for (int cluster = 0; cluster < problem.clusters(); ++cluster) {
        const auto sources = sources_of(cluster, problem);
        for (std::size_t j = 0; j < sources.charges.size(); ++j) {
            const double x = scale * (static_cast<double>(problem.x[target]) - sources.x[j]);
            const double y = scale * (static_cast<double>(problem.y[target]) - sources.y[j]);
            sum += sources.charges[j] * std::exp(-(x * x + y * y));
        }
    }
    return sum;
}

TEST(Hermite, PolynomialsAreThoseOfTheExplicitSum) {
    constexpr Polynomials<12> polynomials;
    for (int n = 0; n < 12; ++n)
        for (const float t : {-2.5F, -0.75F, 0.0F, 0.5F, 1.25F, 4.0F}) {
            long double value = 0, size = 0;
            for (const float coefficient : polynomials.at[n]) {
                value = value * t + coefficient;
                size = size * std::abs(t) + std::abs(coefficient);
            }
            const auto exact = explicit_hermite(n, t);
            EXPECT_LE(std::abs(value - exact), 1e-15L * size) << "n = " << n << ", t = " << t;
            // the two ways of Horner's rule, in float
            const auto looped = horner_loop(polynomials.at[n], t, 12);
            EXPECT_EQ(looped, horner_unrolled<12>(polynomials.at[n], t));
            EXPECT_LE(std::abs(static_cast<long double>(looped) - exact), 12 * 0x1p-24L * size);
        }
}

// What powers.h promises of the sizes of its terms: e times Σ|q| for sources within ½ √2σ.
TEST(Hermite, PowersAreNoLargerThanTheirBound) {
    for (const int terms : terms_measured) {
        const auto problem = make_problem(terms, 1, 1);
        const auto powers = powers_in(problem);
        for (int cluster = 0; cluster < problem.clusters(); ++cluster) {
            const auto charges = sources_of(cluster, problem).charges;
            const double all = std::accumulate(charges.begin(), charges.end(), 0.0,
                                               [](double sum, double q) { return sum + std::abs(q); });
            const float* at = powers.data() + static_cast<std::ptrdiff_t>(cluster) * powers_of(terms);
            for (const double t : {0.0, 0.3, 0.5, 0.7, 1.0, 2.0, 4.0}) {
                const double r = t / static_cast<double>(problem.inverse_width);
                double sizes = 0;
                for (int l = 0; l < terms; ++l)
                    for (int k = 0; k < terms; ++k)
                        sizes += std::abs(static_cast<double>(at[l * terms + k])) *
                                 std::pow(r, 2 * (terms - 1) - k - l);
                EXPECT_LE(sizes * std::exp(-2 * t * t), 2.7183 * all) << "p = " << terms << ", t = " << t;
            }
        }
    }
}

// More terms, fewer errors, by orders: what the series leaves out is |u|^p/√p! and less, with u ≤ ½.
TEST(Hermite, SeriesConvergeToTheirGaussians) {
    double before = 1;
    for (const int terms : terms_measured) {
        const auto problem = make_problem(terms, 300, 1);
        double largest = 0, greatest = 0;
        for (std::size_t i = 0; i < problem.x.size(); ++i) {
            const double exact = gaussians_at(problem, i);
            const auto of_series =
                static_cast<double>(exact_potential(problem, static_cast<std::int64_t>(i)));
            largest = std::max(largest, std::abs(of_series - exact));
            greatest = std::max(greatest, std::abs(exact));
        }
        EXPECT_LT(largest, 0.05 * before * greatest) << "p = " << terms;
        before = largest / greatest;
    }
    EXPECT_LT(before, 3e-7); // the moments' rounding to float
}

TEST(Hermite, EachLoopGivesTheSeries) {
    for (const int terms : terms_measured)
        for (const std::int64_t targets : {1, 7, 1024, 3001}) { // less than a vector; parts with a rest
            const auto problem = make_problem(terms, targets, 1);
            const auto truth = truth_of(problem, static_cast<std::size_t>(targets), 0);
            ASSERT_EQ(truth.targets.size(), static_cast<std::size_t>(targets));
            const auto error = [&](CpuLoop loop, Isa isa) {
                CpuEvaluation evaluation(problem); // potentials of no other loop
                evaluation.run(loop, 1, isa);
                return error_of(truth, evaluation.potentials());
            };
            EXPECT_LT(error(CpuLoop::plain, Isa::automatic), most_error) << "plain, p = " << terms;
            for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
                if (!is_available(isa)) continue;
                EXPECT_LT(error(CpuLoop::simd, isa), most_error)
                    << name_of(isa) << ", p = " << terms << ", N = " << targets;
            }
        }
}

TEST(Hermite, TheSameBitsForAnyNumberOfThreads) {
    const auto problem = make_problem(9, 5000, 2);
    const auto again = make_problem(9, 5000, 1);
    EXPECT_EQ(problem.x, again.x);
    EXPECT_EQ(problem.y, again.y);
    CpuEvaluation evaluation(problem);
    for (const auto loop : {CpuLoop::plain, CpuLoop::simd}) {
        evaluation.run(loop, 1);
        const auto one = evaluation.potentials();
        evaluation.run(loop, 3);
        EXPECT_EQ(evaluation.potentials(), one);
    }
}

// The paper's term loop with the loop's length known to the compiler and without.
TEST(Hermite, LoopsAndUnrolledLoopsAgree) {
    const auto problem = make_problem(12, 50, 1);
    constexpr Polynomials<12> polynomials;
    for (std::size_t i = 0; i < problem.x.size(); ++i) {
        const float x = 4 * problem.x[i] - 2, y = 4 * problem.y[i] - 2;
        const auto* factorials = problem.factorials.data();
        EXPECT_EQ((series<12, false>(problem.moments.data(), factorials, polynomials, x, y, 12)),
                  (series<12, true>(problem.moments.data(), factorials, polynomials, x, y, 12)));
    }
}

TEST(Hermite, ErrorsAreFound) {
    const auto problem = make_problem(5, 100, 1);
    const auto truth = truth_of(problem, 100, 1);
    CpuEvaluation evaluation(problem);
    evaluation.run(CpuLoop::simd, 1);
    auto potentials = evaluation.potentials();
    potentials[40] += static_cast<float>(0.01L * truth.greatest);
    EXPECT_NEAR(error_of(truth, potentials), 0.01, 1e-4);
    potentials[99] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isinf(error_of(truth, potentials)));
}

} // namespace
} // namespace farfield::hermite
