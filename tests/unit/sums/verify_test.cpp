// Verification: which targets are sampled, how their differences become an error of all, and what a plan does
// with a tolerance.
#include "backend/comm/in_process.h"
#include "sums/kernels/kernel.h"
#include "sums/select/periodic_rows.h"
#include "sums/select/verify.h"
#include "unit/sums/views.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace farfield {
namespace {

using test::list;
using test::rows;
using test::Values;

Values uniform(std::size_t n, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> side(0.0, 1.0);
    Values values(n);
    for (double& value : values) value = side(engine);
    return values;
}

struct Cloud {
    Values points, strengths;
    SumProblem problem;
    explicit Cloud(std::int64_t n, const KernelInfo& kernel = gravity_kernel())
        : points(uniform(static_cast<std::size_t>(3 * n), 1)),
          strengths(uniform(static_cast<std::size_t>(n), 2)) {
        problem.kernel = &kernel;
        problem.sources = problem.targets = n;
        problem.softening = 0.05;
    }
    [[nodiscard]] VerifyTask task() const { return {&problem, points, {}, strengths, 2}; }
    [[nodiscard]] SumResult exact() const {
        return sum(rows(points), list(strengths),
                   {.method = Method::reference, .softening = problem.softening});
    }
};

TEST(TargetSample, TakesTheLargestForSureAndOthersOnce) {
    Values norms = uniform(5000, 3);
    norms[17] = norms[4000] = 10.0;
    const auto sample = sample_targets(norms);
    EXPECT_EQ(sample.certain, certain_samples);
    ASSERT_EQ(sample.rows.size(), static_cast<std::size_t>(certain_samples + drawn_samples));
    EXPECT_EQ(std::set<std::int64_t>(sample.rows.begin(), sample.rows.end()).size(), sample.rows.size());
    double least = 1e300;
    for (std::int64_t s = 0; s < sample.certain; ++s)
        least = std::min(least, norms[static_cast<std::size_t>(sample.rows[static_cast<std::size_t>(s)])]);
    int above = 0;
    for (const double norm : norms) above += norm >= least ? 1 : 0;
    EXPECT_EQ(above, certain_samples);
    EXPECT_EQ(sample_targets(norms).rows, sample.rows) << "the same every time";
    EXPECT_EQ(sample_targets(uniform(100, 3)).certain, 100) << "few targets: all of them";
}

// With all targets sampled the error is the relative L2 error itself: every value is off by one part in a
// thousand.
TEST(Verify, FindsAKnownError) {
    const Cloud cloud(200);
    auto result = cloud.exact();
    for (double& value : result.potential) value *= 1.001;
    for (double& value : result.field) value *= 0.999;
    const auto errors =
        verify(cloud.task(), std::vector<ComputedOutput>{{Output::potential, result.potential},
                                                         {Output::field, result.field}});
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_NEAR(errors[0].relative, 0.001 / 1.001, 1e-9);
    EXPECT_NEAR(errors[1].relative, 0.001 / 0.999, 1e-9);
    EXPECT_EQ(errors[1].output, Output::field);
    EXPECT_EQ(errors[1].samples, 200);
    EXPECT_LE(errors[1].median, errors[1].percent_99);
    EXPECT_LE(errors[1].percent_99, errors[1].maximum);
    EXPECT_FALSE(errors[0].largest);
}

// Ranks with rows of their own, of which the last has none; of few and of many sources, and of a box in
// vacuum.
void expect_errors_of_one(std::int64_t n, Boundary boundary) {
    Cloud cloud(n, kernel_info(Kernel::coulomb));
    for (std::size_t i = 1; i < cloud.strengths.size(); i += 2) // neutral
        cloud.strengths[i] = -cloud.strengths[i - 1];
    auto& problem = cloud.problem;
    problem.softening = 0.0;
    problem.period = {1.0, 1.0, 1.0};
    problem.boundary = boundary;
    problem.tolerance = 1e-4;
    const auto result = sum(rows(cloud.points), list(cloud.strengths),
                            {.kernel = Kernel::coulomb,
                             .method = Method::pme,
                             .period = problem.period,
                             .boundary = boundary,
                             .tolerance = problem.tolerance});
    const auto one = verify(cloud.task(), std::vector<ComputedOutput>{{Output::potential, result.potential},
                                                                      {Output::field, result.field}});
    comm::run_ranks(3, [&](const std::shared_ptr<comm::Transport>& ranks) {
        const auto part = [&](const Values& all, std::int64_t width) {
            const std::int64_t first = std::min(ranks->rank(), 2) * n / 2,
                               last = std::min(ranks->rank() + 1, 2) * n / 2;
            return Values(all.begin() + width * first, all.begin() + width * last);
        };
        const auto points = part(cloud.points, 3), strengths = part(cloud.strengths, 1),
                   potential = part(result.potential, 1), field = part(result.field, 3);
        auto task = cloud.task();
        task.sources = points;
        task.strengths = strengths;
        task.ranks = ranks.get();
        const auto errors =
            verify(task, std::vector<ComputedOutput>{{Output::potential, potential}, {Output::field, field}});
        ASSERT_EQ(errors.size(), 2U);
        for (std::size_t k = 0; k < 2; ++k) {
            EXPECT_EQ(errors[k].samples, one[k].samples);
            EXPECT_NEAR(errors[k].relative, one[k].relative, 1e-6 * one[k].relative);
        }
    });
}

TEST(Verify, TellsTheErrorsOfABoxOnRanks) {
    for (const std::int64_t n : {1500, 9000})
        for (const auto boundary : {Boundary::tin_foil, Boundary::vacuum}) expect_errors_of_one(n, boundary);
}

// Charges ±1 on a cubic lattice of spacing 1, in a box of 2·cells along each axis.
struct RockSalt {
    Values points, charges;
    SumOptions options{.kernel = Kernel::coulomb, .tolerance = 1e-6};
    explicit RockSalt(int cells) {
        for (int x = 0; x < 2 * cells; ++x)
            for (int y = 0; y < 2 * cells; ++y)
                for (int z = 0; z < 2 * cells; ++z) {
                    points.insert(points.end(), {x + 0.25, y + 0.25, z + 0.25});
                    charges.push_back((x + y + z) % 2 == 0 ? 1.0 : -1.0);
                }
        options.period = {2.0 * cells, 2.0 * cells, 2.0 * cells};
    }
    [[nodiscard]] SumResult result(Method method) {
        options.method = method;
        return sum(rows(points), list(charges), options);
    }
};

TEST(Verify, JudgesFieldsThatVanishInACrystal) {
    RockSalt crystal(2);
    for (const auto method : {Method::ewald, Method::pme, Method::direct, Method::fmm}) {
        const auto result = crystal.result(method);
        ASSERT_EQ(result.report.errors.size(), 2U);
        for (const auto& error : result.report.errors) EXPECT_LE(error.relative, 1e-6) << name_of(method);
        EXPECT_NEAR(result.potential[0], -1.747564594633, 2e-6);
        for (const double e : result.field) EXPECT_NEAR(e, 0.0, 1e-5);
    }
}

// A field that does not vanish, though it is small, is judged by its own size; and none is taken for one that
// vanishes because it was computed so.
TEST(Verify, KnowsFieldsThatDoNotVanish) {
    RockSalt crystal(2);
    crystal.points[0] += 1e-3;
    const auto result = crystal.result(Method::ewald);
    SumProblem problem;
    problem.kernel = &kernel_info(Kernel::coulomb);
    problem.sources = problem.targets = static_cast<std::int64_t>(crystal.charges.size());
    problem.period = crystal.options.period;
    problem.tolerance = crystal.options.tolerance;
    const VerifyTask task{&problem, crystal.points, {}, crystal.charges, 2};
    const auto error_of = [&](const Values& field) {
        return verify(task, std::vector<ComputedOutput>{{Output::field, field}}).front().relative;
    };
    auto scaled = result.field;
    for (double& e : scaled) e *= 1.01;
    EXPECT_NEAR(error_of(scaled), 0.01 / 1.01, 1e-4);
    EXPECT_GT(error_of(Values(scaled.size(), 0.0)), 1e-5); // of q/a²
}

// The sampled error of 3,000 targets estimates the true one: each value is off by a random share, so the
// squared error of 192 drawn targets has a relative deviation of about √(2/192) = 0.1; three of them are
// allowed for the error itself, halved by the root.
TEST(Verify, EstimatesTheErrorOfAllTargetsFromAFew) {
    const Cloud cloud(3000);
    auto result = cloud.exact();
    std::mt19937 engine(7);
    std::normal_distribution<double> share(0.0, 1e-4);
    double squares = 0.0;
    double norm = 0.0;
    for (std::size_t i = 0; i < result.field.size(); ++i) {
        const double off = result.field[i] * share(engine);
        result.field[i] += off;
        squares += off * off;
        norm += result.field[i] * result.field[i];
    }
    const auto errors = verify(cloud.task(), std::vector<ComputedOutput>{{Output::field, result.field}});
    const double truth = std::sqrt(squares / norm);
    EXPECT_NEAR(errors[0].relative / truth, 1.0, 0.2);
    EXPECT_EQ(errors[0].samples, certain_samples + drawn_samples);
}

// One wrong value among 3,000, the largest of all: uniform samples would miss it nine times in ten.
// A sample may miss the target that is off most.
TEST(Verify, LooksAtEveryTargetOfSmallSums) {
    for (const std::int64_t n : {900, 1100}) {
        const Cloud cloud(n);
        auto result = sum(rows(cloud.points), list(cloud.strengths), {}, Output::potential);
        const auto off = std::min_element(result.potential.begin(), result.potential.end(),
                                          [](double a, double b) { return std::abs(a) < std::abs(b); });
        *off *= 2.0; // of the smallest value, which no sample has for sure
        const auto errors =
            verify(cloud.task(), std::vector<ComputedOutput>{{Output::potential, result.potential}});
        if (n <= 1000) {
            EXPECT_EQ(errors[0].samples, n);
            EXPECT_GT(errors[0].maximum, 0.5) << "beside the mean of all";
        } else {
            EXPECT_EQ(errors[0].samples, certain_samples + drawn_samples);
        }
    }
}

TEST(Verify, SeesTheLargestOutputBeWrong) {
    const Cloud cloud(3000);
    auto result = cloud.exact();
    result.potential[1234] *= 5.0;
    const auto errors =
        verify(cloud.task(), std::vector<ComputedOutput>{{Output::potential, result.potential}});
    EXPECT_GT(errors[0].relative, 0.01);
    EXPECT_GT(errors[0].maximum, 1.0);
}

// Accelerations are fields times charge over mass: a body with a large factor counts more.
TEST(Verify, ComparesFieldsThatWereMultiplied) {
    const Cloud cloud(200);
    auto result = cloud.exact();
    Values factors(200, 2.0);
    factors[7] = 1e6;
    for (std::size_t i = 0; i < result.field.size(); ++i) result.field[i] *= factors[i / 3];
    const auto error = [&] {
        auto task = cloud.task();
        task.soon = true;
        return verify(task, std::vector<ComputedOutput>{{Output::field, result.field, factors}})[0].relative;
    };
    EXPECT_LT(error(), 1e-14);
    for (std::size_t k = 21; k < 24; ++k) result.field[k] *= 1.01;
    EXPECT_NEAR(error(), 0.01 / 1.01, 1e-5);
}

TEST(Verify, JudgesGaussiansByTheirLargestError) {
    Cloud cloud(300, gauss_kernel());
    cloud.problem.softening = 0.0;
    cloud.problem.sigma = 0.3;
    auto result = sum(rows(cloud.points), list(cloud.strengths),
                      {.kernel = Kernel::gauss, .method = Method::reference, .sigma = 0.3});
    const double largest = *std::max_element(result.potential.begin(), result.potential.end());
    result.potential[0] += 0.01 * largest;
    const auto errors =
        verify(cloud.task(), std::vector<ComputedOutput>{{Output::potential, result.potential}});
    EXPECT_TRUE(errors[0].largest);
    EXPECT_NEAR(errors[0].relative, 0.01, 0.0002);
}

TEST(Verify, IsNotFooledByWhatIsNotANumber) {
    const Cloud cloud(300);
    auto result = cloud.exact();
    result.potential[5] = std::nan("");
    const auto errors =
        verify(cloud.task(), std::vector<ComputedOutput>{{Output::potential, result.potential}});
    EXPECT_FALSE(errors[0].relative <= 1e300);
}

TEST(Tolerance, IsKeptAndReported) {
    const Cloud cloud(2000);
    const auto result =
        sum(rows(cloud.points), list(cloud.strengths), {.softening = 0.05, .tolerance = 1e-12});
    ASSERT_EQ(result.report.errors.size(), 2U);
    for (const auto& error : result.report.errors) {
        EXPECT_LT(error.relative, 1e-14);
        EXPECT_GT(error.relative, 0.0) << "nothing is exact";
    }
    EXPECT_GT(result.report.verify_seconds, 0.0);
    EXPECT_TRUE(sum(rows(cloud.points), list(cloud.strengths)).report.errors.empty());
}

TEST(Tolerance, ThatIsNotReachedIsAnErrorThatNamesTheErrorReached) {
    const Cloud cloud(500);
    const SumOptions options{.softening = 0.05, .tolerance = 1e-12, .precision = Precision::float32};
    try {
        sum(rows(cloud.points), list(cloud.strengths), options);
        FAIL() << "nothing was thrown";
    } catch (const ToleranceNotReached& error) {
        const std::string text = error.what();
        for (const auto* word : {"potential", "1e-12", "float", "double"})
            EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
    }
}

// Every output is compared when it is first computed, with the points of that time.
TEST(Tolerance, ComparesEachOutputOnceAPlan) {
    const Cloud cloud(300);
    SumPlan plan(rows(cloud.points), {.softening = 0.05, .tolerance = 1e-12});
    Values potential(300), field(900);
    plan.execute(list(cloud.strengths), {.potential = std::span<double>(potential)});
    ASSERT_EQ(plan.report().errors.size(), 1U);
    const auto moved = uniform(900, 11);
    plan.update(rows(moved));
    plan.execute(list(cloud.strengths), {.field = matrix_view(std::span<double>(field), 3)});
    ASSERT_EQ(plan.report().errors.size(), 2U);
    EXPECT_EQ(plan.report().errors[1].output, Output::field);
    EXPECT_LT(plan.report().errors[1].relative, 1e-14);
    EXPECT_GT(plan.report().verify_seconds, 0.0);
    plan.execute(list(cloud.strengths), {.potential = std::span<double>(potential)});
    EXPECT_EQ(plan.report().errors.size(), 2U);
    EXPECT_EQ(plan.report().verify_seconds, 0.0);
}

TEST(Hooks, ReportProgressAndStopALongSum) {
    const Cloud cloud(4000);
    SumPlan plan(rows(cloud.points), {.softening = 0.05, .threads = 1});
    Values potential(4000, -7.0);
    std::vector<double> shares;
    plan.execute(list(cloud.strengths), {.potential = std::span<double>(potential)},
                 {.progress = [&](double share) { shares.push_back(share); }, .stop_requested = {}});
    ASSERT_FALSE(shares.empty());
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_LE(shares.back(), 1.0);
    Values untouched(4000, -7.0);
    const auto all = untouched;
    EXPECT_THROW(plan.execute(list(cloud.strengths), {.potential = std::span<double>(untouched)},
                              {.progress = {}, .stop_requested = [] { return true; }}),
                 Interrupted);
    EXPECT_EQ(untouched, all) << "nothing of an interrupted sum is written";
    Values again(4000);
    plan.execute(list(cloud.strengths), {.potential = std::span<double>(again)});
    EXPECT_EQ(again, potential) << "the plan goes on as if nothing had happened";
}

/// Charges in a periodic box whose sums are known.
struct BoxOfCharges {
    std::vector<double> points, strengths;
    SumProblem problem;
    ExactRows exact;

    explicit BoxOfCharges(double softening) {
        constexpr int n = 8500; // enough for rough rows
        std::mt19937 engine(3);
        std::uniform_real_distribution<double> uniform(0.0, 1.0);
        for (int i = 0; i < n; ++i) {
            for (int axis = 0; axis < 3; ++axis) points.push_back(uniform(engine));
            strengths.push_back(uniform(engine) - 0.5);
        }
        problem.kernel = &kernel_info(Kernel::coulomb);
        problem.outputs = problem.kernel->output_set();
        problem.sources = problem.targets = n;
        problem.period = {1.0, 1.0, 1.0};
        problem.background = Background::uniform;
        problem.softening = softening;
        problem.tolerance = 1e-4;
        for (int i = 0; i < n; ++i) exact[i];
        compute_periodic_rows(task(), exact);
    }
    [[nodiscard]] VerifyTask task() const { return {&problem, points, {}, strengths, 2}; }
};

// Rows that aim at less than all digits tell errors as precise ones do, however small these are.
TEST(Verify, OfBoxesTellsErrorsFarBelowTheTolerance) {
    for (const double softening : {0.0, 0.05}) {
        const BoxOfCharges box(softening);
        ASSERT_TRUE(rough_goal(box.task()));
        for (const double error : {0.3, 1e-3, 1e-7}) { // of the tolerance
            std::mt19937 engine(5);
            std::normal_distribution<double> normal;
            std::vector<double> potential, field;
            for (const auto& [row, values] : box.exact) {
                const auto off = [&](double value) {
                    return value * (1.0 + error * box.problem.tolerance * normal(engine));
                };
                potential.push_back(off(values[0]));
                for (std::size_t k = 1; k < 4; ++k) field.push_back(off(values[k]));
            }
            const std::vector<ComputedOutput> computed{{Output::potential, potential},
                                                       {Output::field, field}};
            const auto found = verify(box.task(), computed);
            const auto precise = verify_with(box.task(), computed,
                                             {.rows =
                                                  [&](std::span<const ComparedOutput>, ExactRows& rows) {
                                                      for (auto& [row, values] : rows)
                                                          values = box.exact.at(row);
                                                  },
                                              .checking = {},
                                              .precise = {},
                                              .least = [](Output) { return 0.0; }});
            for (std::size_t k = 0; k < 2; ++k)
                EXPECT_NEAR(found[k].relative, precise[k].relative, 0.02 * precise[k].relative + 1e-14)
                    << softening << ' ' << error << ' ' << k;
        }
    }
}

} // namespace
} // namespace farfield
