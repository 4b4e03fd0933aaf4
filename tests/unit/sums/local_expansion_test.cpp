// Local expansions of softened monopoles against the sums that they stand for.
#include "sums/expansions/local.h"
#include "sums/expansions/local_task.h"

#include "backend/simd/isa.h"
#include "base/aligned.h"
#include "sums/direct/cpu/isa_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace farfield {
namespace {

using Point = std::array<double, 3>;

struct Monopole {
    Point at{};
    double strength = 0.0;
};

/// At the given distance from the origin.
std::vector<Monopole> shell(int count, double distance) {
    std::mt19937_64 engine(7);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0.5, 1.0);
    std::vector<Monopole> out;
    for (int k = 0; k < count; ++k) {
        Point p{normal(engine), normal(engine), normal(engine)};
        const double length = std::hypot(p[0], p[1], p[2]);
        for (double& x : p) x *= distance / length;
        out.push_back({p, uniform(engine)});
    }
    return out;
}

std::vector<Point> ball(int count, double radius) {
    std::mt19937_64 engine(8);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<Point> out;
    while (static_cast<int>(out.size()) < count) {
        Point p{uniform(engine), uniform(engine), uniform(engine)};
        if (std::hypot(p[0], p[1], p[2]) > 1.0) continue;
        for (double& x : p) x *= radius;
        out.push_back(p);
    }
    return out;
}

/// Potential and field.
using ExpandedValues = std::array<double, 4>;

ExpandedValues exact(const std::vector<Monopole>& from, const Point& x, double softening) {
    ExpandedValues out{};
    for (const auto& source : from) {
        double square = softening * softening;
        for (std::size_t axis = 0; axis < 3; ++axis) square += std::pow(x[axis] - source.at[axis], 2);
        out[0] += source.strength / std::sqrt(square);
        for (std::size_t axis = 0; axis < 3; ++axis)
            out[axis + 1] += source.strength * (x[axis] - source.at[axis]) / std::pow(square, 1.5);
    }
    return out;
}

std::size_t padded(std::size_t count) {
    constexpr auto lanes = static_cast<std::size_t>(local_lanes);
    return (count + lanes - 1) / lanes * lanes;
}

using LocalPolynomial = std::array<double, local_numbers>;

template <class T>
LocalPolynomial polynomial_of(const std::vector<Monopole>& from, double unit, double softening, Isa isa) {
    const auto count = padded(from.size());
    AlignedVector<T> d[3], q(count, T(0));
    for (std::size_t axis = 0; axis < 3; ++axis) {
        d[axis].assign(count, T(1));
        for (std::size_t k = 0; k < from.size(); ++k) d[axis][k] = static_cast<T>(from[k].at[axis]);
    }
    for (std::size_t k = 0; k < from.size(); ++k) q[k] = static_cast<T>(from[k].strength);
    double sums[local_sums] = {};
    const LocalSumsTask task{.wide = sizeof(T) == 8,
                             .count = static_cast<std::int64_t>(count),
                             .d = {d[0].data(), d[1].data(), d[2].data()},
                             .strength = q.data(),
                             .softening2 = softening * softening,
                             .unit = unit,
                             .sums = sums};
    FF_ISA_FUNCTION(ff_local_sums, isa)(&task);
    LocalPolynomial out{};
    add_local_sums(sums, out.data());
    return out;
}

template <class T>
std::vector<ExpandedValues> values_of(const LocalPolynomial& polynomial, const std::vector<Point>& at,
                                      double unit, bool potential, Isa isa) {
    T numbers[local_value_numbers] = {};
    local_value_numbers_of(polynomial.data(), unit, numbers);
    AlignedVector<T> s[3];
    std::vector<double> sums[4];
    for (auto& sum : sums) sum.assign(at.size(), 0.0);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        s[axis].assign(padded(at.size()), T(0));
        for (std::size_t k = 0; k < at.size(); ++k) s[axis][k] = static_cast<T>(at[k][axis] / unit);
    }
    LocalValuesTask task{.wide = sizeof(T) == 8,
                         .potential = potential,
                         .numbers = numbers,
                         .targets = static_cast<std::int64_t>(at.size()),
                         .s = {s[0].data(), s[1].data(), s[2].data()},
                         .potential_sums = sums[0].data()};
    for (std::size_t axis = 0; axis < 3; ++axis) task.field_sums[axis] = sums[axis + 1].data();
    FF_ISA_FUNCTION(ff_local_values, isa)(&task);
    std::vector<ExpandedValues> out(at.size());
    for (std::size_t k = 0; k < at.size(); ++k)
        for (std::size_t n = 0; n < 4; ++n) out[k][n] = sums[n][k];
    return out;
}

struct Errors {
    double potential = 0.0, field = 0.0; ///< the largest ones, over Σ q/ρ and Σ q/ρ²
};

template <class T>
Errors errors(double distance, double softening, Isa isa) {
    const double radius = 1.0, unit = 1.0;
    const auto from = shell(37, distance);
    const auto at = ball(23, radius);
    const auto polynomial = polynomial_of<T>(from, unit, softening, isa);
    const auto got = values_of<T>(polynomial, at, unit, true, isa);
    double strength = 0.0;
    for (const auto& source : from) strength += source.strength;
    const double rho = std::hypot(distance, softening);
    Errors out;
    for (std::size_t k = 0; k < at.size(); ++k) {
        const auto wanted = exact(from, at[k], softening);
        out.potential = std::max(out.potential, std::abs(got[k][0] - wanted[0]) * rho / strength);
        for (std::size_t n = 1; n < 4; ++n)
            out.field = std::max(out.field, std::abs(got[k][n] - wanted[n]) * rho * rho / strength);
    }
    return out;
}

std::vector<Isa> isas() {
    std::vector<Isa> out;
    for (const Isa isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        if (is_available(isa)) out.push_back(isa);
    return out;
}

// What is left out of a series of powers of 1/ρ that are at most 1: the field has (q + 1) in addition.
TEST(LocalExpansion, LeavesOutWhatItsSeriesSays) {
    for (const Isa isa : isas())
        for (const double softening : {0.0, 0.7, 5.0})
            for (const double distance : {2.0, 4.0, 16.0}) {
                const double x = 1.0 / std::hypot(distance, softening);
                const auto found = errors<double>(distance, softening, isa);
                EXPECT_LE(found.potential, std::pow(x, local_order + 1) / (1.0 - x) + 1e-14) << distance;
                EXPECT_LE(found.field,
                          (local_order + 1) * std::pow(x, local_order) / std::pow(1.0 - x, 2) + 1e-14)
                    << distance;
                // and no more is right than that: an expansion of a lower order would be as good otherwise
                EXPECT_LE(found.field, 0.1 * local_order * std::pow(x, local_order - 1)) << distance;
                const auto of_float = errors<float>(distance, softening, isa);
                EXPECT_LE(of_float.potential, found.potential + 1e-6) << distance;
                EXPECT_LE(of_float.field, found.field + 4e-6) << distance;
            }
}

TEST(LocalExpansion, IsTheSamePolynomialAboutAnotherCentre) {
    const auto from = shell(19, 3.0);
    const double unit = 1.0, inner = 0.25;
    const double shift[3] = {0.3, -0.2, 0.5};
    const auto polynomial = polynomial_of<double>(from, unit, 0.1, Isa::scalar);
    LocalPolynomial moved{};
    shift_local(polynomial.data(), shift, inner / unit, moved.data());
    auto at = ball(11, inner);
    const auto got = values_of<double>(moved, at, inner, true, Isa::scalar);
    for (auto& x : at)
        for (std::size_t axis = 0; axis < 3; ++axis) x[axis] += shift[axis];
    const auto wanted = values_of<double>(polynomial, at, unit, true, Isa::scalar);
    for (std::size_t k = 0; k < at.size(); ++k)
        for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(got[k][n], wanted[k][n], 1e-12);
}

TEST(LocalExpansion, GivesTheFieldAloneAsWithThePotential) {
    const auto from = shell(19, 3.0);
    const auto at = ball(9, 1.0);
    for (const Isa isa : isas()) {
        const auto polynomial = polynomial_of<double>(from, 1.0, 0.0, isa);
        const auto alone = values_of<double>(polynomial, at, 1.0, false, isa);
        const auto both = values_of<double>(polynomial, at, 1.0, true, isa);
        for (std::size_t k = 0; k < at.size(); ++k) {
            EXPECT_EQ(alone[k][0], 0.0);
            for (std::size_t n = 1; n < 4; ++n) EXPECT_NEAR(alone[k][n], both[k][n], 1e-13);
        }
    }
}

} // namespace
} // namespace farfield
