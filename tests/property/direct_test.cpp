// What must hold for the direct sum whatever the points are: linearity, permutation, translation and
// rotation, momentum, and field = −∇φ. Double precision; random inputs of printed seeds.
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

namespace farfield {
namespace {

using Values = std::vector<double>;

// A sum of N terms of size s in any order, blocked or not, is off by less than N·2⁻⁵³·s here; the terms of a
// cloud of 1,200 points with ε = 0.05 are at most 400 times their typical sum.
constexpr double rounding = 1e-12;

class DirectProperty : public testing::TestWithParam<unsigned> {
protected:
    std::mt19937_64 generator{GetParam()};
    SumOptions options{.softening = 0.05};
    Values points;
    Values strengths;

    void SetUp() override {
        std::cout << "seed " << GetParam() << "\n";
        points = random_values(3 * 1200);
        strengths = random_values(1200);
        options.kernel = GetParam() % 2 == 0 ? Kernel::gravity : Kernel::coulomb;
    }

    Values random_values(std::size_t n) {
        std::uniform_real_distribution<double> uniform(-1.0, 1.0);
        Values out(n);
        for (double& value : out) value = uniform(generator);
        return out;
    }

    [[nodiscard]] SumResult compute(const Values& xyz, const Values& q) const {
        return sum(matrix_view(std::span<const double>(xyz), 3), std::span<const double>(q), options);
    }
};

void expect_close(const Values& a, const Values& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    double largest = 0.0;
    for (double value : b) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance * largest) << "entry " << i;
}

TEST_P(DirectProperty, LinearInTheStrengths) {
    const auto others = random_values(strengths.size());
    Values mixed(strengths.size());
    for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] = 2.5 * strengths[i] - 0.75 * others[i];
    const auto a = compute(points, strengths);
    const auto b = compute(points, others);
    auto expected = a.field;
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 2.5 * a.field[i] - 0.75 * b.field[i];
    expect_close(compute(points, mixed).field, expected, rounding);
}

TEST_P(DirectProperty, PermutationOfThePointsPermutesTheResult) {
    std::vector<std::size_t> order(strengths.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), generator);
    const auto result = compute(points, strengths);
    Values moved;
    Values q;
    Values expected;
    for (auto i : order) {
        q.push_back(strengths[i]);
        for (std::size_t k = 0; k < 3; ++k) {
            moved.push_back(points[3 * i + k]);
            expected.push_back(result.field[3 * i + k]);
        }
    }
    expect_close(compute(moved, q).field, expected, rounding);
}

TEST_P(DirectProperty, TranslationChangesNothingAndRotationTurnsTheField) {
    // Rotation about (1, 2, 3)/√14 by 0.7 rad (Rodrigues' formula).
    const double axis[3] = {1.0 / std::sqrt(14.0), 2.0 / std::sqrt(14.0), 3.0 / std::sqrt(14.0)};
    const auto turned = [&](const Values& vectors) {
        Values out(vectors.size());
        for (std::size_t i = 0; i < vectors.size(); i += 3) {
            const double* v = &vectors[i];
            const double along = axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2];
            for (std::size_t k = 0; k < 3; ++k) {
                const auto a = (k + 1) % 3;
                const auto b = (k + 2) % 3;
                out[i + k] = v[k] * std::cos(0.7) + (axis[a] * v[b] - axis[b] * v[a]) * std::sin(0.7) +
                             axis[k] * along * (1.0 - std::cos(0.7));
            }
        }
        return out;
    };
    const auto result = compute(points, strengths);
    auto moved = turned(points);
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += static_cast<double>(i % 3) - 0.5;
    const auto after = compute(moved, strengths);
    // Turning rounds the coordinates by 2⁻⁵³ of their size, ε = 0.05 makes that 20 times more of a distance.
    expect_close(after.field, turned(result.field), 10.0 * rounding);
    expect_close(after.potential, result.potential, 10.0 * rounding);
}

TEST_P(DirectProperty, ForcesAddUpToNothing) {
    const auto result = compute(points, strengths);
    for (std::size_t k = 0; k < 3; ++k) {
        double total = 0.0;
        double size = 0.0;
        for (std::size_t i = 0; i < strengths.size(); ++i) {
            total += strengths[i] * result.field[3 * i + k];
            size += std::abs(strengths[i] * result.field[3 * i + k]);
        }
        EXPECT_LE(std::abs(total), 1e-13 * size);
    }
}

// Central differences: their own error is h²/6 of the third derivative, h²/ε² = 4e-6 at worst of the
// contribution of a close pair; rounding adds 2⁻⁵³/h = 1e-12.
TEST_P(DirectProperty, FieldIsMinusTheGradientOfThePotential) {
    const double h = 1e-4;
    const auto targets = random_values(3 * 40);
    const auto at = [&](const Values& where) {
        return sum(matrix_view(std::span<const double>(points), 3),
                   matrix_view(std::span<const double>(where), 3), std::span<const double>(strengths),
                   options);
    };
    const auto field = at(targets).field;
    Values difference(field.size());
    for (std::size_t k = 0; k < 3; ++k)
        for (double side : {1.0, -1.0}) {
            auto moved = targets;
            for (std::size_t i = k; i < moved.size(); i += 3) moved[i] += side * h;
            const auto potential = at(moved).potential;
            for (std::size_t i = 0; i < potential.size(); ++i)
                difference[3 * i + k] -= side * potential[i] / (2.0 * h);
        }
    expect_close(field, difference, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DirectProperty, testing::Values(1U, 2U, 20261120U));

} // namespace
} // namespace farfield
