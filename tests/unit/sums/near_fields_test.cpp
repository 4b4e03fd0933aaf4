// Fields of nearest sources in periodic boxes, against every image of every pair.
#include "sums/lattice/near_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace farfield {
namespace {

SumProblem box(std::array<double, 3> period, double softening = 0.0) {
    SumProblem problem;
    problem.period = period;
    problem.softening = softening;
    return problem;
}

std::vector<double> points_in(const std::array<double, 3>& period, std::size_t n, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0); // some of them outside
    std::vector<double> out;
    for (std::size_t i = 0; i < 3 * n; ++i) out.push_back(period[i % 3] * uniform(engine));
    return out;
}

double by_all_pairs(const SumProblem& problem, const std::vector<double>& sources,
                    const std::vector<double>& targets) {
    const auto& at = targets.empty() ? sources : targets;
    const double n = static_cast<double>(sources.size()) / 3.0;
    const double a = std::cbrt(problem.period[0] * problem.period[1] * problem.period[2] / n);
    double sum = 0.0;
    for (std::size_t i = 0; i < at.size(); i += 3) {
        double least = HUGE_VAL;
        for (std::size_t j = 0; j < sources.size(); j += 3) {
            double square = 0.0;
            for (std::size_t k = 0; k < 3; ++k)
                square += std::pow(std::remainder(at[i + k] - sources[j + k], problem.period[k]), 2);
            if (square > 1e-20) least = std::min(least, square);
        }
        const double soft = least + problem.softening * problem.softening;
        sum += least > 0.36 * a * a ? 1.0 : std::max(1.0, std::pow(a, 4) * least / std::pow(soft, 3));
    }
    return std::sqrt(sum / (static_cast<double>(at.size()) / 3.0));
}

TEST(NearFields, AreThoseOfAllPairs) {
    for (const auto& period :
         {std::array{1.0, 1.0, 1.0}, std::array{300.0, 100.0, 20.0}, std::array{1e-3, 1.0, 1e-3}})
        for (const std::size_t n : {1U, 2U, 9U, 400U})
            for (const double softening : {0.0, 0.03 * period[0]}) {
                const auto problem = box(period, softening);
                const auto sources = points_in(period, n, 1), targets = points_in(period, 70, 2);
                const double of_self = by_all_pairs(problem, sources, {});
                EXPECT_NEAR(near_field_strength(problem, sources, {}, 2), of_self, 1e-9 * of_self) << n;
                const double of_targets = by_all_pairs(problem, sources, targets);
                EXPECT_NEAR(near_field_strength(problem, sources, targets, 1), of_targets, 1e-9 * of_targets)
                    << n;
            }
}

TEST(NearFields, OfEvenPointsAreOne) {
    std::vector<double> points;
    for (int i = 0; i < 125; ++i)
        points.insert(points.end(), {0.2 * (i % 5), 0.2 * (i / 5 % 5), 0.2 * (i / 25)});
    EXPECT_EQ(near_field_strength(box({1.0, 1.0, 1.0}), points, {}, 1), 1.0);
    EXPECT_EQ(near_field_strength(box({1.0, 1.0, 1.0}), points, points, 1), 1.0); // on the sources
    EXPECT_EQ(near_field_strength(box({1.0, 1.0, 1.0}), {}, points, 1), 1.0);
}

} // namespace
} // namespace farfield
