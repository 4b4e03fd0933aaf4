// Sums by boxes whose every source keeps the bound of its expansion, each of the four interactions among
// them; and what a plan of boxes says of itself.
#include "backend/simd/isa.h"
#include "sums/gauss/boxes/boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace farfield {
namespace {

using Numbers = std::vector<double>;

/// Dense clouds and lone points about the unit cube.
Numbers clouds(std::mt19937_64& random, std::size_t n, int d, double lone) {
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    Numbers centres, out;
    for (int k = 0; k < 3 * d; ++k) centres.push_back(0.1 + 0.8 * uniform(random));
    for (std::size_t i = 0; i < n; ++i) {
        const bool is_lone = uniform(random) < lone;
        for (int k = 0; k < d; ++k)
            out.push_back(is_lone
                              ? uniform(random)
                              : centres[i % 3 * static_cast<std::size_t>(d) + static_cast<std::size_t>(k)] +
                                    0.04 * uniform(random));
    }
    return out;
}

/// The least cut-off beyond which a source gives no more than the tolerance, of the gradient either.
double cutoff_for(double tolerance) {
    double cutoff = 1.0;
    while (cutoff * std::exp(0.5 - 0.5 * cutoff * cutoff) > tolerance) cutoff += 0.01;
    return cutoff;
}

struct BoxSum {
    double value = 0.0, gradient = 0.0; ///< largest errors over Σ|q| and Σ|q|/(σ√e)
    FgtReport report;
};

struct BoxCase {
    int dimension;
    double sigma;
    Numbers sources, targets; ///< no targets: the sources
    bool without_own = false;

    [[nodiscard]] BoxSum sum(const BoxAim& aim) const;
};

BoxSum BoxCase::sum(const BoxAim& aim) const {
    const auto d = static_cast<std::size_t>(dimension);
    const auto& at = targets.empty() ? sources : targets;
    const auto n = sources.size() / d, m = at.size() / d;
    const SumProblem problem{.kernel = &gauss_kernel(),
                             .dimension = dimension,
                             .outputs = {},
                             .self = targets.empty(),
                             .sources = static_cast<std::int64_t>(n),
                             .targets = static_cast<std::int64_t>(m),
                             .sigma = sigma,
                             .self_term = without_own ? SelfTerm::exclude : SelfTerm::include};
    const auto extent = gauss_extent(sources, targets, dimension, 1);
    const auto frame = choose_gauss_frame(problem, extent);
    GaussShape shape;
    shape.boxes = aim;
    GaussBoxes boxes(problem, resolve_isa(Isa::automatic), 1);
    boxes.set_points(shape, {sources, targets, extent, frame});
    Numbers strengths(n), potential(m), gradient(m * d);
    for (std::size_t i = 0; i < n; ++i) strengths[i] = i % 3 == 0 ? -1.0 : 0.5;
    const SumOutputs outputs{.potential = matrix_view(std::span<double>(potential), 1),
                             .gradient = matrix_view(std::span<double>(gradient), dimension)};
    GaussSums sums;
    sums.take(problem, outputs, 1, 1);
    std::vector<PassTime> passes;
    WorkWatch watch(boxes.work(), {}, {});
    boxes.add(strengths, 1, 0, sums, passes, watch);
    write_gauss_sums(problem, sums, frame, 0, boxes.target_order(), outputs, 1);
    SumReport report;
    boxes.describe(report);
    BoxSum out{.report = report.fgt};
    long double all = 0.0L;
    for (const double q : strengths) all += std::abs(q);
    for (std::size_t i = 0; i < m; i += 1 + m / 300) {
        long double exact = 0.0L, square = 0.0L;
        std::vector<long double> slope(d, 0.0L);
        for (std::size_t j = 0; j < n; ++j) {
            if (without_own && i == j) continue;
            long double r2 = 0.0L;
            for (std::size_t k = 0; k < d; ++k) {
                const long double u = static_cast<long double>(sources[d * j + k]) - at[d * i + k];
                r2 += u * u;
            }
            const long double width = sigma, value = strengths[j] * std::exp(-r2 / (2.0L * width * width));
            exact += value;
            for (std::size_t k = 0; k < d; ++k)
                slope[k] +=
                    value / (width * width) * (static_cast<long double>(sources[d * j + k]) - at[d * i + k]);
        }
        for (std::size_t k = 0; k < d; ++k)
            square += (gradient[d * i + k] - slope[k]) * (gradient[d * i + k] - slope[k]);
        out.value = std::max(out.value, static_cast<double>(std::abs(potential[i] - exact) / all));
        out.gradient =
            std::max(out.gradient, static_cast<double>(std::sqrt(square) * sigma * std::exp(0.5L) / all));
    }
    return out;
}

TEST(GaussBoxSums, KeepTheBoundOfEverySource) {
    std::mt19937_64 random(6);
    std::array<std::int64_t, 4> taken{};
    for (int d = 1; d <= 6; ++d)
        for (const double tolerance : {1e-2, 1e-4, 1e-8})
            for (const double side : {0.4, 0.9, 1.7})
                for (const bool apart : {false, true}) {
                    SCOPED_TRACE(testing::Message()
                                 << d << "-dimensional, side " << side << ", tolerance " << tolerance);
                    BoxCase points{
                        .dimension = d, .sigma = 0.05, .sources = clouds(random, 500, d, 0.3), .targets = {}};
                    if (apart) points.targets = clouds(random, 700, d, 0.5);
                    points.without_own = !apart && side < 1.0;
                    const auto sum = points.sum({.tolerance = tolerance,
                                                 .cutoff = cutoff_for(tolerance),
                                                 .side = side,
                                                 .rates = {.pair = 1.0, .term = 2e-3}});
                    EXPECT_LE(sum.value, tolerance);
                    EXPECT_LE(sum.gradient, tolerance);
                    EXPECT_LE(sum.report.side, side * (1.0 + 1e-12));
                    taken[0] += sum.report.pair_boxes;
                    taken[1] += sum.report.hermite_boxes;
                    taken[2] += sum.report.taylor_boxes;
                    taken[3] += sum.report.translated_boxes;
                }
    for (const auto count : taken) EXPECT_GT(count, 1000);
}

// Costs that leave one interaction only, so that an error of it shows whatever the others do.
TEST(GaussBoxSums, EachInteractionByItself) {
    std::mt19937_64 random(7);
    for (const int d : {1, 2, 3}) {
        const double tolerance = 1e-7;
        const BoxAim aim{.tolerance = tolerance,
                         .cutoff = cutoff_for(tolerance),
                         .side = 1.0,
                         .rates = {.pair = 1.0, .term = 1e-5}};
        const auto expect_only = [&](const BoxCase& points, const BoxAim& with,
                                     std::int64_t FgtReport::*which) {
            const auto sum = points.sum(with);
            EXPECT_LE(sum.value, tolerance);
            EXPECT_LE(sum.gradient, tolerance);
            const auto& report = sum.report;
            SCOPED_TRACE(testing::Message()
                         << d << "-dimensional: pairs " << report.pair_boxes << ", Hermite "
                         << report.hermite_boxes << ", Taylor " << report.taylor_boxes << ", translated "
                         << report.translated_boxes);
            EXPECT_GT(report.*which, 0);
            EXPECT_EQ(report.*which, report.pair_boxes + report.hermite_boxes + report.taylor_boxes +
                                         report.translated_boxes);
        };
        const auto cloud = clouds(random, 3000, d, 0.0), few = clouds(random, 40, d, 0.0),
                   even = clouds(random, 3000, d, 1.0);
        Numbers small, about; // a small cloud, and lone points within some σ of it
        std::uniform_real_distribution<double> uniform(-1.0, 1.0);
        for (int i = 0; i < 3000 * d; ++i) small.push_back(0.5 + 0.005 * uniform(random));
        for (int i = 0; i < 40 * d; ++i) about.push_back(0.5 + 0.2 * uniform(random));
        auto dear = aim;
        dear.rates.term = 1.0;
        expect_only({.dimension = d, .sigma = 0.3, .sources = even, .targets = {}}, aim,
                    &FgtReport::translated_boxes);
        expect_only({.dimension = d, .sigma = 0.05, .sources = few, .targets = cloud}, dear,
                    &FgtReport::pair_boxes);
        expect_only({.dimension = d, .sigma = 0.05, .sources = small, .targets = about}, aim,
                    &FgtReport::hermite_boxes);
        expect_only({.dimension = d, .sigma = 0.05, .sources = about, .targets = small}, aim,
                    &FgtReport::taylor_boxes);
    }
}

TEST(GaussBoxSums, NumbersOfExpansionsStayWithinTheirRoom) {
    std::mt19937_64 random(8);
    const BoxCase points{
        .dimension = 3, .sigma = 0.05, .sources = clouds(random, 4000, 3, 0.2), .targets = {}};
    BoxAim aim{.tolerance = 1e-4, .cutoff = cutoff_for(1e-4), .rates = {.pair = 1.0, .term = 1e-4}};
    EXPECT_GT(points.sum(aim).report.order, 0);
    aim.most_numbers = 1.0;
    const auto none = points.sum(aim);
    EXPECT_EQ(none.report.order, 0);
    EXPECT_LE(none.value, aim.tolerance);
}

TEST(GaussBoxSums, LessCostsForEveryPairOfBoxes) {
    std::mt19937_64 random(9);
    const auto points = clouds(random, 3000, 2, 0.3);
    const SumProblem problem{.kernel = &gauss_kernel(),
                             .dimension = 2,
                             .outputs = {},
                             .sources = 3000,
                             .targets = 3000,
                             .sigma = 0.03};
    const auto extent = gauss_extent(points, {}, 2, 1);
    const auto frame = choose_gauss_frame(problem, extent);
    BoxPlan plan;
    plan.set_points({points, {}, extent, frame}, 2, 1, {.tolerance = 1e-5, .cutoff = 5.0, .side = 0.8});
    std::int64_t seen = 0;
    for (std::size_t t = 0; t < plan.target_boxes().count(); ++t)
        plan.visit_sources(t, [&](std::size_t s) {
            const double n = plan.source_boxes().size(s), m = plan.target_boxes().size(t);
            const bool hermite = plan.hermite(s) != BoxPlan::none, taylor = plan.taylor(t) != BoxPlan::none;
            double least = plan.costs().pairs(n, m);
            if (hermite) least = std::min(least, plan.costs().value(m));
            if (taylor) least = std::min(least, plan.costs().gather(n));
            const auto act = plan.act(s, t);
            if (act == BoxAct::translation) {
                EXPECT_TRUE(hermite && taylor);
                return;
            }
            const double cost = act == BoxAct::pairs     ? plan.costs().pairs(n, m)
                                : act == BoxAct::hermite ? plan.costs().value(m)
                                                         : plan.costs().gather(n);
            EXPECT_EQ(cost, least);
            ++seen;
        });
    EXPECT_GT(seen, 100);
    const auto& pairs = plan.box_pairs();
    EXPECT_EQ(std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0}) -
                  pairs[static_cast<std::size_t>(BoxAct::translation)],
              seen);
}

} // namespace
} // namespace farfield
