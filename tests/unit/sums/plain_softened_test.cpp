// Operators of softened kernels as a GPU takes them: number by number those that the CPU's loops apply, and
// with the expansions of points they give the softened kernel.
#include "sums/costs/cost_table.h"
#include "sums/fmm/gpu_shape.h"
#include "sums/fmm/plain_far.h"
#include "sums/kernels/kernel.h"
#include "unit/sums/plain_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using test::dot;
using test::functions_at;
using test::offset_of;
using test::Point;
using test::product;
using test::squared_distance;

/// Widths of cells of level 0: ε is that of no cell, of some, and of all that matter.
constexpr double softenings[] = {0.003, 0.1, 3.0};

FmmOrder order_of(int order, int coarse) {
    FmmOrder out;
    out.order = order;
    out.coarse = coarse;
    return out;
}

/// What the CPU's loop makes of a unit coefficient of a source, by its mirror image.
template <class T>
AlignedVector<T> translated_on_host(const Translation<T>& translation, int size, int mirror, int place) {
    const auto numbers = static_cast<std::size_t>(size);
    AlignedVector<T> source(numbers, T(0)), target(numbers, T(0)), zeros(numbers, T(0)), scratch;
    scratch.resize(static_cast<std::size_t>(translate_scratch(size)));
    source[static_cast<std::size_t>(place)] = T(1);
    const void* sources[parities] = {};
    sources[mirror] = source.data();
    void* expansion = target.data();
    auto task = translation.task();
    task.targets = 1;
    task.sources = sources;
    task.expansions = &expansion;
    task.zeros = zeros.data();
    task.scratch = scratch.data();
    ff_translate_scalar(&task);
    return target;
}

/// One column of a plain matrix against the loop of the CPU.
template <class T>
void expect_same_column(const PlainOperators<T>& plain, const typename PlainOperators<T>::Matrix& matrix,
                        const Translation<T>& translation, const PolynomialBasis& basis, int mirror,
                        int place) {
    const auto column = polynomial_place(basis.at(place).of);
    std::vector<double> unit(static_cast<std::size_t>(plain.size), 0.0);
    unit[static_cast<std::size_t>(column)] = 1.0;
    const auto got = product(plain, matrix, mirror, unit);
    const auto expected = translated_on_host(translation, basis.size(), mirror, place);
    for (int i = 0; i < basis.size(); ++i)
        if (basis.at(i).degree >= 0) {
            const auto value = static_cast<double>(expected[static_cast<std::size_t>(i)]);
            ASSERT_NEAR(got[static_cast<std::size_t>(polynomial_place(basis.at(i).of))], value,
                        1e-15 * std::abs(value));
        }
}

template <class T>
void expect_operators_of_host(const SoftenedOrder& order) {
    const auto made = softened_operators<T>(order, 1);
    const auto& host = made->polynomials;
    const PlainOperators<T> plain(order.order, host);
    const PolynomialBasis basis(host.table.loop().order, numbers_a_line<T>);
    ASSERT_EQ(plain.size, basis.functions());
    ASSERT_EQ(plain.across.size(), static_cast<std::size_t>(order.levels) * host.classes.size());
    for (int place = 0; place < basis.size(); ++place) {
        if (basis.at(place).degree < 0) continue;
        for (int mirror = 0; mirror < parities; ++mirror) {
            expect_same_column(plain, plain.up, host.up, basis, mirror, place);
            expect_same_column(plain, plain.down, host.down, basis, mirror, place);
        }
        for (int level = 0; level < order.levels; ++level)
            for (std::size_t c = 0; c < host.classes.size(); c += 3) {
                const auto& matrix = plain.across[static_cast<std::size_t>(plain.first_across(level)) + c];
                const auto mirror = host.classes[c].axes & (place % parities);
                expect_same_column(plain, matrix, host.across_level(level)[c], basis, mirror, place);
            }
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(PlainPolynomials, AreTheOperatorsOfTheHost) {
    for (const double softening : softenings)
        for (const int coarse : {1, 3}) {
            expect_operators_of_host<double>({order_of(8, coarse), softening, 4});
            expect_operators_of_host<float>({order_of(6, coarse), softening, 4});
        }
}

/// 1/√(r² + ε²), or what it lacks of 1/r.
double kernel_of(double r2, double softening, bool whole) {
    const double softened = 1.0 / std::sqrt(r2 + softening * softening);
    return whole ? softened : softened - 1.0 / std::sqrt(r2);
}

// An order leaves 10^−digits of the field of a nearest pair, and polynomials up to twice that in the mean
// over the pairs of two cells; these points lie farther from their centres than most.
TEST(PlainPolynomials, TranslateAPointsExpansionFromEverySender) {
    const Point v{0.2, -0.3, 0.2};
    const Point u{-0.1, 0.25, 0.3};
    for (const double softening : softenings)
        for (const int coarse : {1, 5}) {
            const SoftenedOrder order{order_of(10, coarse), softening, 5};
            const auto made = softened_operators<double>(order, 1);
            const PlainOperators<double> plain(order.order, made->polynomials);
            const double error = 20.0 * std::pow(10.0, -digits_of(10, 1));
            const auto multipole = functions_at(plain, v);
            const auto at = functions_at(plain, u);
            for (int level = coarse == 1 ? 1 : 0; level < order.levels; ++level)
                for (int group = 0; group <= coarse_group; ++group) {
                    if ((group == coarse_group) != (level == 0)) continue;
                    for (auto s = plain.first_sender[group]; s < plain.first_sender[group + 1]; ++s) {
                        const auto& sender = plain.senders[static_cast<std::size_t>(s)];
                        const double r2 = squared_distance(u, v, offset_of(sender, group));
                        const double width_softening = std::ldexp(softening, level);
                        const double expected =
                            kernel_of(r2, width_softening, level >= made->harmonic_levels);
                        const auto& matrix =
                            plain.across[static_cast<std::size_t>(plain.first_across(level) + sender.matrix)];
                        const auto local = product(plain, matrix, sender.mirror, multipole);
                        ASSERT_NEAR(dot(local, at), expected, error * kernel_of(r2, width_softening, true));
                    }
                }
        }
}

TEST(PlainPolynomials, MoveBetweenParentsAndChildrenAndDifferentiate) {
    const SoftenedOrder order{order_of(8, 1), 0.3, 3};
    const PlainOperators<double> plain(order.order, softened_operators<double>(order, 1)->polynomials);
    test::expect_moves_in_family(plain);
    test::expect_derivatives(plain);
}

TEST(PlainFar, HasTheExpansionsThatAnEpsilonNeeds) {
    const auto order = order_of(8, 1);
    const auto plain = plain_far<double>(order, 0.0, 5, 0, 1);
    EXPECT_EQ(plain.harmonics.end_level, 5);
    EXPECT_EQ(plain.polynomials.operators, nullptr);
    EXPECT_EQ(plain.multiply_adds(2), multiply_adds_a_cell(order, true));

    const auto tiny = plain_far<double>(order, 1e-9, 5, 0, 1);
    EXPECT_EQ(tiny.harmonics.end_level, 5);
    EXPECT_EQ(tiny.polynomials.operators, nullptr);

    const auto some = plain_far<double>(order, 0.1, 6, 0, 1);
    ASSERT_NE(some.polynomials.operators, nullptr);
    const auto made = softened_operators<double>({order, 0.1, 6}, 1);
    EXPECT_EQ(some.harmonics.end_level, made->harmonic_levels);
    EXPECT_GT(some.harmonics.end_level, 0);
    EXPECT_LT(some.harmonics.end_level, 6);
    EXPECT_EQ(some.polynomials.end_level, 6);
    for (int level = 0; level < 6; ++level) // nothing is lost
        EXPECT_EQ(some.polynomials.operators->multiply_adds(level) > 0.0,
                  level >= some.polynomials.first_level);

    const auto large = plain_far<double>(order, 10.0, 5, 0, 1);
    EXPECT_EQ(large.harmonics.operators, nullptr);
    ASSERT_NE(large.polynomials.operators, nullptr);
    EXPECT_FALSE(large.is_empty());

    const auto with_images = plain_far<double>(order, 10.0, 5, 1, 1);
    ASSERT_NE(with_images.harmonics.operators, nullptr);
    EXPECT_EQ(with_images.harmonics.end_level, 1);
    EXPECT_EQ(with_images.polynomials.end_level, large.polynomials.end_level);
}

TEST(GpuShape, LeavesGrowWithWhatSofteningCosts) {
    const auto order = order_of(12, 1);
    for (const bool wide : {false, true}) {
        const double hard = gpu_leaf(order, wide);
        const double of_cluster = gpu_softened_leaf(order, wide, 1e-9, least_softening_of_clusters);
        EXPECT_GT(of_cluster, hard); // two kinds of expansions
        EXPECT_LT(of_cluster, 3.0 * hard);
        EXPECT_GT(gpu_softened_leaf(order, wide, 2.0, 0.0), hard);    // about a leaf
        EXPECT_LT(gpu_softened_leaf(order, wide, 1000.0, 0.0), hard); // few polynomials carry all
    }
}

// What took least time on an H200: a Plummer cluster of a million bodies, some 300 scale lengths wide.
TEST(GpuShape, FitsAClusterWithSoftening) {
    SumProblem problem;
    problem.kernel = &kernel_info(Kernel::gravity);
    problem.sources = problem.targets = 1000000;
    problem.self = problem.moves = true;
    problem.softening = 0.01;
    problem.precision = Precision::mixed;
    SumOptions options;
    options.precision = Precision::mixed;
    options.softening = problem.softening;
    for (const auto& [tolerance, order] : {std::pair{1e-3, 5}, {1e-4, 9}}) {
        problem.tolerance = options.tolerance = tolerance;
        const auto shape =
            gpu_fmm_shape(problem, options, shipped_cost_table(), 0, problem.softening / 400.0);
        EXPECT_EQ(shape.order.order, order);
        EXPECT_EQ(shape.grid.cells(), 24.0 * 24.0 * 24.0);
    }
    problem.tolerance = options.tolerance = 0.0; // nothing tells whether the order suffices
    const auto unverified = gpu_fmm_shape(problem, options, shipped_cost_table());
    EXPECT_EQ(unverified.order.order, fmm_shape(problem, options, shipped_cost_table(), 0, 0.0).order.order);
}

} // namespace
} // namespace farfield
