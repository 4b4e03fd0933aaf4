// What the tests of method 'fgt' and of its strategies ask of sums, against sums in long double.
#pragma once

#include "oracle/gauss/gauss_oracle.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace farfield::oracle {

inline GaussCase gauss_case(std::size_t d, double sigma, Layout layout, std::size_t n, bool is_signed,
                            std::size_t vectors = 1) {
    GaussRandom random(100 * d + static_cast<std::size_t>(layout));
    GaussCase points{.dimension = d, .vectors = vectors, .sigma = sigma};
    points.sources = random.points(layout, n, d);
    points.strengths = random.strengths(n * vectors, is_signed);
    return points;
}

/// The largest errors at every `step`-th target are within the tolerance, and the strategy asked for is
/// taken.
inline SumReport expect_within(const GaussCase& points, const GaussValues& exact, SumOptions options,
                               std::size_t step = 1) {
    SCOPED_TRACE("tolerance " + std::to_string(options.tolerance * 1e12) + "e-12");
    options.method = Method::fgt;
    const auto result = points.computed(options, options.outputs);
    const auto errors = errors_of(points, result, exact, options.tolerance, step);
    EXPECT_LE(errors.potential, options.tolerance);
    EXPECT_LE(errors.gradient, options.tolerance);
    for (const auto& error : result.report.errors) EXPECT_LE(error.relative, options.tolerance);
    if (options.strategy != GaussStrategy::automatic) {
        EXPECT_EQ(result.report.fgt.strategy, options.strategy);
    }
    return result.report;
}

/// Of positive strengths: a sum that is asked to stop throws, and one that is not tells how far it is.
inline void expect_given_up(const GaussCase& points, SumOptions options) {
    options.kernel = Kernel::gauss;
    options.method = Method::fgt;
    options.sigma = points.sigma;
    SumPlan plan(rows_of_numbers(points.sources, points.dimension), options);
    Numbers potential(points.source_count());
    const SumOutputs views{.potential = matrix_view(std::span<double>(potential), 1)};
    const auto strengths = rows_of_numbers(points.strengths, 1);
    EXPECT_THROW(plan.execute(strengths, views, {.progress = {}, .stop_requested = [] { return true; }}),
                 Interrupted);
    double last = 0.0;
    plan.execute(strengths, views, {.progress = [&](double share) { last = share; }, .stop_requested = {}});
    EXPECT_GT(last, 0.0);
    EXPECT_LE(last, 1.0);
}

} // namespace farfield::oracle
