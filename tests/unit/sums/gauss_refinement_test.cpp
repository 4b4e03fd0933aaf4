// The fast Gauss transform asked to be more accurate than it can: it says no, and then computes what it did
// before, also after its points were set again.
#include "sums/kernels/gauss.h"
#include "sums/method/method.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using Numbers = std::vector<double>;

constexpr std::int64_t point_count = 400;
constexpr double sigma = 0.2;

Numbers random_numbers(std::size_t count) {
    std::mt19937_64 random(8);
    std::uniform_real_distribution<double> uniform;
    Numbers out(count);
    for (double& x : out) x = uniform(random);
    return out;
}

Numbers values_of(PreparedSum& sum, const Numbers& strengths) {
    Numbers out(point_count);
    SumReport report;
    sum.execute(matrix_view(std::span<const double>(strengths), 1),
                {.potential = matrix_view(std::span<double>(out), 1)}, {}, report);
    return out;
}

double exact_value(const Numbers& places, const Numbers& strengths, std::size_t i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < strengths.size(); ++j) {
        double r2 = 0.0;
        for (std::size_t k = 0; k < 3; ++k) r2 += std::pow(places[3 * i + k] - places[3 * j + k], 2);
        sum += strengths[j] * std::exp(-r2 / (2.0 * sigma * sigma));
    }
    return sum;
}

TEST(GaussRefinement, OneThatIsRefusedChangesNothing) {
    const auto places = random_numbers(3 * point_count), strengths = random_numbers(point_count);
    const auto view = matrix_view(std::span<const double>(places), 3);
    for (const auto strategy : {GaussStrategy::grid, GaussStrategy::pairs, GaussStrategy::clusters}) {
        SCOPED_TRACE(std::string(name_of(strategy)));
        SumProblem problem;
        problem.kernel = &gauss_kernel();
        problem.sources = problem.targets = point_count;
        problem.sigma = sigma;
        problem.tolerance = 1e-3;
        SumOptions options{.kernel = Kernel::gauss, .method = Method::fgt, .sigma = sigma};
        options.tolerance = problem.tolerance;
        options.strategy = strategy;
        const auto sum = method_info(Method::fgt).make(problem, options, {.kind = DeviceKind::cpu});
        sum->set_points(view, {});
        int refined = 0;
        while (sum->refine(1.0)) ASSERT_LT(++refined, 100);
        EXPECT_GT(refined, 0);
        const auto best = values_of(*sum, strengths);
        for (std::size_t i = 0; i < strengths.size(); i += 40)
            EXPECT_NEAR(best[i], exact_value(places, strengths, i), 1e-10) << i;
        EXPECT_FALSE(sum->refine(1.0));
        EXPECT_EQ(values_of(*sum, strengths), best);
        sum->set_points(view, {});
        EXPECT_EQ(values_of(*sum, strengths), best);
    }
}

} // namespace
} // namespace farfield
