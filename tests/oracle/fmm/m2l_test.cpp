// M2L by mirror images, by rotation and by plain products: three ways to the same sums, each beside sums in
// long double that share no code with them.
#include "effort.h"
#include "oracle/direct/oracle.h"

#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using oracle::Points;

constexpr M2L every_way[] = {M2L::mirrored, M2L::rotation, M2L::matrix};

/// In a cube, or in a ball that is denser towards its centre, so that leaves have many sizes.
Points masses(int n, std::uint64_t seed, bool ball = false) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    Points out;
    while (out.size() < n) {
        const double x[] = {uniform(engine), uniform(engine), uniform(engine)};
        const double r = std::hypot(x[0] - 0.5, x[1] - 0.5, x[2] - 0.5);
        if (ball && r > 0.5) continue;
        for (const double component : x)
            out.xyz.push_back(ball ? 8.0 * r * r * (component - 0.5) : component);
        out.q.push_back(0.5 + uniform(engine));
    }
    return out;
}

ConstArrayView rows(const std::vector<double>& xyz) { return matrix_view(std::span<const double>(xyz), 3); }
ConstArrayView strengths_of(const Points& points) { return {std::span<const double>(points.q)}; }

SumOptions fmm(int order, M2L m2l, int leaf) {
    return {.kernel = Kernel::coulomb,
            .method = Method::fmm,
            .order = order,
            .leaf = leaf,
            .m2l = m2l,
            .precision = Precision::float64};
}

// A coefficient is a sum of up to 875 products, in another order in each way: √875 ε is 7e-15.
// Of masses the far field is most of the potential: what one way loses or adds shows.
void expect_same_sums(const Points& points, const SumOptions& asked, double tolerance) {
    auto options = asked;
    options.m2l = M2L::matrix;
    const auto plain = sum(rows(points.xyz), strengths_of(points), options);
    for (const auto way : {M2L::mirrored, M2L::rotation}) {
        options.m2l = way;
        const auto found = sum(rows(points.xyz), strengths_of(points), options);
        EXPECT_EQ(found.report.fmm.m2l, way);
        const std::vector<long double> potential(plain.potential.begin(), plain.potential.end());
        const std::vector<long double> field(plain.field.begin(), plain.field.end());
        EXPECT_LE(oracle::relative_l2(found.potential, potential), tolerance) << name_of(way);
        EXPECT_LE(oracle::relative_l2(found.field, field), 10.0 * tolerance) << name_of(way);
    }
}

TEST(M2L, EveryWayGivesTheSameSums) {
    const auto cube = masses(test::shorter() ? 800 : 3000, 1);
    const auto ball = masses(test::shorter() ? 800 : 3000, 2, true);
    for (const int separation : {1, 2})
        for (const double grading : {0.0, 0.6})
            for (const int order : {1, 4, 9}) {
                auto options = fmm(order, M2L::matrix, 8);
                options.separation = separation;
                options.grading = grading;
                expect_same_sums(cube, options, 1e-14);
                expect_same_sums(ball, options, 1e-14);
            }
}

TEST(M2L, EveryWayGivesTheSameSumsOnCoarseGridsInFloatAndSoftened) {
    const auto cube = masses(2000, 3);
    for (const int leaf : {250, 74, 31, 16, 6}) // grids of 2, 3, 4, 5 and 7 cells an axis
        expect_same_sums(cube, fmm(6, M2L::matrix, leaf), 1e-14);
    auto options = fmm(6, M2L::matrix, 8);
    options.softening = 0.01;
    expect_same_sums(cube, options, 1e-14);
    options.precision = Precision::mixed;
    expect_same_sums(cube, options, 2e-6);
    options.softening = 0.0;
    expect_same_sums(cube, options, 2e-6);
}

// Order 34 gives twelve digits (`digits_of`).
TEST(M2L, EveryWayReachesManyDigits) {
    const auto sources = masses(test::sized(1500, 600), 4);
    const auto targets = masses(700, 5, true);
    const auto exact = oracle::direct(sources, targets.xyz, 0.0L, 1.0L);
    for (const auto way : every_way) {
        const auto found = sum(rows(sources.xyz), rows(targets.xyz), strengths_of(sources), fmm(34, way, 20));
        EXPECT_LE(oracle::relative_l2(found.potential, exact.potential), 1e-11) << name_of(way);
        EXPECT_LE(oracle::relative_l2(found.field, exact.field), 1e-11) << name_of(way);
    }
}

TEST(M2L, EveryWayHasTheSameBitsForAnyNumberOfThreads) {
    const auto points = masses(test::sized(12000, 1500), 6, true);
    for (const auto way : every_way)
        for (const auto precision : {Precision::float64, Precision::mixed}) {
            auto options = fmm(5, way, 12);
            options.precision = precision;
            options.threads = 1;
            const auto one = sum(rows(points.xyz), strengths_of(points), options);
            for (const int threads : {2, 5}) {
                options.threads = threads;
                const auto more = sum(rows(points.xyz), strengths_of(points), options);
                EXPECT_EQ(more.potential, one.potential) << name_of(way);
                EXPECT_EQ(more.field, one.field) << name_of(way);
            }
        }
}

// By the cost table, for few digits products and for many rotations.
TEST(M2L, AutomaticTakesTheFasterOne) {
    const auto points = masses(400, 7);
    auto options = fmm(6, M2L::automatic, 20);
    EXPECT_EQ(sum(rows(points.xyz), strengths_of(points), options).report.fmm.m2l, M2L::mirrored);
    options.order = 38;
    EXPECT_EQ(sum(rows(points.xyz), strengths_of(points), options).report.fmm.m2l, M2L::rotation);
}

} // namespace
} // namespace farfield
