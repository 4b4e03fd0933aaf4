// The operators of 3D expansions against what they stand for: values of 1/r and of the functions themselves.
#include "sums/expansions/basis.h"
#include "sums/expansions/loops.h"
#include "sums/expansions/operators.h"
#include "sums/expansions/polynomials.h"
#include "sums/expansions/translation.h"

#include "backend/simd/isa.h"
#include "sums/direct/cpu/isa_function.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

namespace farfield {
namespace {

using Point = std::array<double, 3>;

constexpr int line = 8;

/// All functions at a point, by their definition.
std::vector<double> functions(const HarmonicBasis& basis, const Point& x) {
    const auto harmonics = SolidHarmonics::regular(basis.order(), x);
    const HarmonicScales scales(basis.order());
    std::vector<double> out(static_cast<std::size_t>(basis.size()));
    for (int place = 0; place < basis.size(); ++place) {
        const auto& h = basis.at(place);
        if (h.degree < 0) continue;
        const double value = h.sine ? harmonics.imag(h.degree, h.order) : harmonics.real(h.degree, h.order);
        out[static_cast<std::size_t>(place)] = std::sqrt(2.0) * scales.of(h) * value;
    }
    return out;
}

/// By their definition, T_k(x) = cos(k arccos x).
std::vector<double> functions(const PolynomialBasis& basis, const Point& x) {
    std::vector<double> out(static_cast<std::size_t>(basis.size()));
    for (int place = 0; place < basis.size(); ++place) {
        const auto& f = basis.at(place);
        if (f.degree < 0) continue;
        double value = 1.0;
        for (std::size_t axis = 0; axis < 3; ++axis) value *= std::cos(f.of[axis] * std::acos(2.0 * x[axis]));
        out[static_cast<std::size_t>(place)] = value;
    }
    return out;
}

double distance(const Point& a, const Point& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }
double norm(const Point& a) { return distance(a, {0.0, 0.0, 0.0}); }
Point operator+(const Point& a, const Point& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

/// R_lm(x)/|x|^(2l+1): the functions that multipole expansions are made of.
std::vector<double> outer_functions(const HarmonicBasis& basis, const Point& x) {
    auto out = functions(basis, x);
    for (int place = 0; place < basis.size(); ++place)
        if (basis.at(place).degree >= 0)
            out[static_cast<std::size_t>(place)] /= std::pow(norm(x), 2 * basis.at(place).degree + 1);
    return out;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

const Point near_point{0.11, -0.23, 0.17};
const Point other_point{-0.21, 0.05, -0.13};
const Point far_point{1.9, -2.3, 1.4};

TEST(Basis, EachFunctionHasOnePlaceInItsClass) {
    const HarmonicBasis basis(7, line);
    std::vector<int> seen(static_cast<std::size_t>(basis.size()));
    for (int l = 0; l <= 7; ++l)
        for (int m = 0; m <= l; ++m)
            for (const bool sine : {false, true}) {
                if (sine && m == 0) continue;
                const int place = basis.place(l, m, sine);
                const auto& h = basis.at(place);
                EXPECT_EQ(h.degree, l);
                EXPECT_EQ(h.order, m);
                EXPECT_EQ(h.sine, sine);
                EXPECT_GE(place, basis.class_begin(h.parity()));
                EXPECT_LT(place, basis.class_begin(h.parity()) + basis.class_count(h.parity(), 7));
                ++seen[static_cast<std::size_t>(place)];
            }
    int functions_seen = 0;
    for (const int count : seen) functions_seen += count;
    EXPECT_EQ(functions_seen, 64);
}

TEST(Basis, FunctionsHaveTheParityOfTheirClass) {
    const HarmonicBasis basis(6, line);
    const auto values = functions(basis, near_point);
    for (int mirror = 0; mirror < parities; ++mirror) {
        Point x = near_point;
        for (std::size_t axis = 0; axis < 3; ++axis)
            if ((mirror >> axis & 1) != 0) x[axis] = -x[axis];
        const auto mirrored = functions(basis, x);
        for (int place = 0; place < basis.size(); ++place) {
            if (basis.at(place).degree < 0) continue;
            const double sign =
                __builtin_popcount(static_cast<unsigned>(basis.at(place).parity() & mirror)) % 2 == 0 ? 1.0
                                                                                                      : -1.0;
            EXPECT_NEAR(mirrored[static_cast<std::size_t>(place)],
                        sign * values[static_cast<std::size_t>(place)], 1e-15);
        }
    }
}

TEST(Basis, ProductsSumUpToTheInverseDistance) {
    const HarmonicBasis basis(24, line);
    EXPECT_NEAR(product(functions(basis, near_point), outer_functions(basis, far_point)),
                1.0 / distance(near_point, far_point), 1e-15);
}

TEST(Operators, MultipoleToLocalGivesTheInverseDistance) {
    for (const Point& d : {Point{2.0, 0.0, 0.0}, Point{2.0, -1.0, 0.0}, Point{-3.0, 2.0, 1.0}}) {
        const HarmonicBasis basis(18, line);
        const MultipoleToLocal entry(18, d);
        const auto x = functions(basis, near_point);
        const auto y = functions(basis, other_point);
        double sum = 0.0;
        for (int i = 0; i < basis.size(); ++i)
            for (int j = 0; j < basis.size(); ++j)
                if (basis.at(i).degree >= 0 && basis.at(j).degree >= 0)
                    sum += x[static_cast<std::size_t>(i)] * entry(basis.at(i), basis.at(j)) *
                           y[static_cast<std::size_t>(j)];
        EXPECT_NEAR(sum, 1.0 / distance(d + near_point, other_point), 1e-12);
    }
}

TEST(Operators, ShiftMovesTheFunctions) {
    const HarmonicBasis basis(9, line);
    const Shift entry(9, other_point);
    const auto moved = functions(basis, near_point + other_point);
    const auto values = functions(basis, near_point);
    for (int i = 0; i < basis.size(); ++i) {
        if (basis.at(i).degree < 0) continue;
        double sum = 0.0;
        for (int j = 0; j < basis.size(); ++j)
            if (basis.at(j).degree >= 0)
                sum += entry(basis.at(i), basis.at(j)) * values[static_cast<std::size_t>(j)];
        EXPECT_NEAR(sum, moved[static_cast<std::size_t>(i)], 1e-15) << i;
    }
}

/// The derivative of Σ c_k f_k by the sparse matrix, against a difference quotient of fourth order.
template <class Functions>
void expect_derivative(const std::vector<SparseTerm>& terms, const std::vector<double>& coefficients,
                       std::size_t size, const Functions& values, const HarmonicBasis& basis,
                       const HarmonicBasis& derived_basis, std::size_t axis, const Point& x) {
    std::vector<double> derived(size);
    for (const auto& term : terms)
        derived[static_cast<std::size_t>(term.to)] +=
            term.weight * coefficients[static_cast<std::size_t>(term.from)];
    const double h = 1e-3;
    const auto at = [&](double steps) {
        Point moved = x;
        moved[axis] += steps * h;
        return product(coefficients, values(basis, moved));
    };
    const double expected = (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * h);
    EXPECT_NEAR(product(derived, values(derived_basis, x)), expected, 1e-9 * std::abs(expected) + 1e-11)
        << axis;
}

std::vector<double> harmonics_at(const HarmonicBasis& basis, const Point& x) { return functions(basis, x); }

TEST(Operators, DerivativesAreThoseOfTheFunctions) {
    const HarmonicBasis basis(6, line);
    const HarmonicBasis higher(7, line);
    for (int place = 0; place < basis.size(); ++place) {
        if (basis.at(place).degree < 0) continue;
        std::vector<double> coefficients(static_cast<std::size_t>(basis.size()));
        coefficients[static_cast<std::size_t>(place)] = 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            expect_derivative(local_derivative(basis, axis), coefficients,
                              static_cast<std::size_t>(basis.size()), harmonics_at, basis, basis,
                              static_cast<std::size_t>(axis), near_point);
            expect_derivative(multipole_derivative(basis, higher, axis), coefficients,
                              static_cast<std::size_t>(higher.size()), outer_functions, basis, higher,
                              static_cast<std::size_t>(axis), far_point);
        }
    }
}

TEST(Polynomials, MoveFromAChildToItsParent) {
    const PolynomialBasis basis(6, line);
    const ChildShift shift(6);
    const Point child = near_point;
    const Point parent{0.5 * child[0] - 0.25, 0.5 * child[1] - 0.25, 0.5 * child[2] - 0.25};
    const auto in_child = functions(basis, child);
    const auto in_parent = functions(basis, parent);
    for (int i = 0; i < basis.size(); ++i) {
        if (basis.at(i).degree < 0) continue;
        double sum = 0.0;
        for (int j = 0; j < basis.size(); ++j)
            if (basis.at(j).degree >= 0)
                sum += shift(basis.at(i), basis.at(j)) * in_child[static_cast<std::size_t>(j)];
        EXPECT_NEAR(sum, in_parent[static_cast<std::size_t>(i)], 1e-13);
    }
}

TEST(Polynomials, Derivatives) {
    const PolynomialBasis basis(7, line);
    std::vector<double> coefficients;
    for (int place = 0; place < basis.size(); ++place)
        coefficients.push_back(basis.at(place).degree < 0 ? 0.0 : std::sin(1.0 + place));
    const auto value = [&](const Point& x) { return product(coefficients, functions(basis, x)); };
    for (std::size_t axis = 0; axis < 3; ++axis) {
        std::vector<double> derivative(coefficients.size());
        for (const auto& term : polynomial_derivative(basis, static_cast<int>(axis)))
            derivative[static_cast<std::size_t>(term.to)] +=
                term.weight * coefficients[static_cast<std::size_t>(term.from)];
        Point before = near_point;
        Point after = near_point;
        before[axis] -= 1e-5;
        after[axis] += 1e-5;
        EXPECT_NEAR(product(derivative, functions(basis, near_point)), (value(after) - value(before)) / 2e-5,
                    1e-5);
    }
}

// The error of an expansion is about what its degree was chosen for, and falls with the degree.
TEST(Polynomials, ExpandASmoothKernelToTheDegreeAskedFor) {
    const Point d{2.0, 0.0, 1.0};
    const auto kernel = [](double r2) { return 1.0 / std::sqrt(r2 + 0.25); };
    const int order = 14;
    const PolynomialBasis basis(order, line);
    const SmoothKernelExpansion expansion(DifferenceTables(order), d, kernel);
    EXPECT_EQ(expansion.degree_for(10.0, 10.0), -1);
    EXPECT_EQ(expansion.degree_for(1e-30, 1.0), order + 1);
    int last = 0;
    for (const double error : {1e-2, 1e-3, 1e-4, 1e-5}) {
        const int degree = expansion.degree_for(error, 1e9);
        EXPECT_GT(degree, last);
        last = degree;
        double squares = 0.0;
        int count = 0;
        for (int n = 0; n < 200; ++n) {
            const Point x{0.5 * std::sin(n), 0.5 * std::sin(2.0 * n), 0.5 * std::sin(3.0 * n)};
            const Point y{0.5 * std::sin(5.0 * n), 0.5 * std::sin(7.0 * n), 0.5 * std::sin(11.0 * n)};
            const auto at = functions(basis, x);
            const auto from = functions(basis, y);
            double sum = 0.0;
            for (int i = 0; i < basis.size(); ++i)
                for (int j = 0; j < basis.size(); ++j)
                    if (basis.at(i).degree >= 0 && basis.at(j).degree >= 0 && basis.at(i).degree <= degree &&
                        basis.at(j).degree <= degree)
                        sum += at[static_cast<std::size_t>(i)] * expansion(basis.at(i), basis.at(j)) *
                               from[static_cast<std::size_t>(j)];
            const double r = norm({d[0] + x[0] - y[0], d[1] + x[1] - y[1], d[2] + x[2] - y[2]});
            squares += std::pow(sum - kernel(r * r), 2);
            ++count;
        }
        EXPECT_LE(std::sqrt(squares / count), 2.0 * error);
        EXPECT_GE(std::sqrt(squares / count), 0.02 * error);
    }
}

template <class T>
class Loops : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Loops, Types);

std::vector<Isa> available_isas() {
    std::vector<Isa> out;
    for (const Isa isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        if (is_available(isa)) out.push_back(isa);
    return out;
}

template <class T, class Basis>
void check_form_and_evaluate(const Basis& basis, double tolerance) {
    constexpr int width = 64 / static_cast<int>(sizeof(T));
    const FunctionTable<T> table(basis);
    AlignedVector<T> x[3], weight;
    std::vector<double> expected(static_cast<std::size_t>(basis.size()));
    const int points = 37;
    const int padded = (points + width - 1) / width * width;
    for (int i = 0; i < padded; ++i) {
        const Point point{0.4 * std::sin(i), 0.4 * std::cos(3.0 * i), 0.4 * std::sin(5.0 * i)};
        for (std::size_t axis = 0; axis < 3; ++axis) x[axis].push_back(static_cast<T>(point[axis]));
        weight.push_back(i < points ? static_cast<T>(std::cos(7.0 * i)) : T(0));
        const auto values = functions(basis, point);
        for (std::size_t k = 0; k < values.size(); ++k)
            expected[k] += static_cast<double>(weight.back()) * values[k];
    }
    for (const Isa isa : available_isas()) {
        AlignedVector<T> sums(table.numbers()), scratch(table.numbers() * static_cast<std::size_t>(width));
        const FormTask form{.functions = table.loop(),
                            .points = {padded, {x[0].data(), x[1].data(), x[2].data()}},
                            .weight = weight.data(),
                            .sums = sums.data(),
                            .scratch = scratch.data()};
        FF_ISA_FUNCTION(ff_form, isa)(&form);
        for (std::size_t n = 0; n < table.numbers(); ++n)
            if (table.places()[n] >= 0) {
                EXPECT_NEAR(static_cast<double>(sums[n]),
                            expected[static_cast<std::size_t>(table.places()[n])], tolerance);
            }

        AlignedVector<T> coefficients(4 * table.numbers()), values[4];
        for (std::size_t n = 0; n < table.numbers(); ++n)
            for (std::size_t k = 0; k < 4; ++k)
                coefficients[4 * n + k] =
                    table.places()[n] < 0 ? T(0) : static_cast<T>(std::sin(static_cast<double>(n * (k + 1))));
        for (auto& set : values) set.resize(static_cast<std::size_t>(padded));
        const EvaluateTask evaluate{
            .functions = table.loop(),
            .points = form.points,
            .sets = 4,
            .coefficients = coefficients.data(),
            .values = {values[0].data(), values[1].data(), values[2].data(), values[3].data()}};
        FF_ISA_FUNCTION(ff_evaluate, isa)(&evaluate);
        for (std::size_t i = 0; i < static_cast<std::size_t>(points); ++i) {
            const auto at = functions(basis, {static_cast<double>(x[0][i]), static_cast<double>(x[1][i]),
                                              static_cast<double>(x[2][i])});
            for (std::size_t k = 0; k < 4; ++k) {
                double sum = 0.0;
                for (std::size_t n = 0; n < table.numbers(); ++n)
                    if (table.places()[n] >= 0)
                        sum += static_cast<double>(coefficients[4 * n + k]) *
                               at[static_cast<std::size_t>(table.places()[n])];
                EXPECT_NEAR(static_cast<double>(values[k][i]), sum, tolerance) << name_of(isa);
            }
        }
    }
}

TYPED_TEST(Loops, FormAndEvaluateAgreeWithTheDefinition) {
    using T = TypeParam;
    constexpr int width = 64 / static_cast<int>(sizeof(T));
    constexpr bool wide = std::is_same_v<T, double>;
    check_form_and_evaluate<T>(HarmonicBasis(11, width), wide ? 1e-14 : 2e-6);
    for (const int order : {0, 1, 6, 9})
        check_form_and_evaluate<T>(PolynomialBasis(order, width), wide ? 2e-13 : 6e-5);
}

TYPED_TEST(Loops, TranslateAddsEachMirrorImage) {
    using T = TypeParam;
    constexpr int width = 64 / static_cast<int>(sizeof(T));
    constexpr double tolerance = std::is_same_v<T, double> ? 1e-13 : 1e-4;
    for (const int order : {3, 10, 13})
        for (const Point& d : {Point{2.0, 1.0, 3.0}, Point{2.0, 0.0, 2.0}, Point{0.0, 0.0, 3.0}}) {
            const HarmonicBasis basis(order, width);
            const int axes = (d[0] != 0.0 ? 1 : 0) | (d[1] != 0.0 ? 2 : 0) | (d[2] != 0.0 ? 4 : 0);
            const int degree = order - 1;
            const Translation<T> translation(basis, axes, degree, MultipoleToLocal(degree, d));
            const auto size = static_cast<std::size_t>(basis.size());
            const std::size_t targets = 11;
            std::vector<AlignedVector<T>> sources(targets * parities),
                expansions(targets, AlignedVector<T>(size, T(1)));
            std::vector<const void*> pointers;
            for (std::size_t t = 0; t < targets; ++t)
                for (std::size_t mirror = 0; mirror < parities; ++mirror) {
                    auto& source = sources[t * parities + mirror];
                    const bool present = (static_cast<int>(mirror) & ~axes) == 0 && (t + mirror) % 3 != 0;
                    source.assign(size, T(0));
                    for (int place = 0; place < basis.size(); ++place)
                        if (basis.at(place).degree >= 0)
                            source[static_cast<std::size_t>(place)] = static_cast<T>(std::sin(
                                static_cast<double>(place + 17 * static_cast<int>(t * parities + mirror))));
                    pointers.push_back(present ? source.data() : nullptr);
                }
            for (const Isa isa : available_isas()) {
                auto result = expansions;
                std::vector<void*> out;
                for (auto& expansion : result) out.push_back(expansion.data());
                AlignedVector<T> scratch(static_cast<std::size_t>(translate_scratch(basis.size())), T(NAN));
                const AlignedVector<T> zeros(size, T(0));
                auto task = translation.task();
                task.targets = targets;
                task.sources = pointers.data();
                task.expansions = out.data();
                task.zeros = zeros.data();
                task.scratch = scratch.data();
                FF_ISA_FUNCTION(ff_translate, isa)(&task);
                for (std::size_t t = 0; t < targets; ++t) {
                    std::vector<double> expected(size, 1.0);
                    for (int mirror = 0; mirror < parities; ++mirror) {
                        if (pointers[t * parities + static_cast<std::size_t>(mirror)] == nullptr) continue;
                        Point mirrored = d;
                        for (std::size_t axis = 0; axis < 3; ++axis)
                            if ((mirror >> axis & 1) != 0) mirrored[axis] = -mirrored[axis];
                        const MultipoleToLocal entry(degree, mirrored);
                        for (int i = 0; i < basis.size(); ++i)
                            for (int j = 0; j < basis.size(); ++j) {
                                const auto& hi = basis.at(i);
                                const auto& hj = basis.at(j);
                                if (hi.degree < 0 || hj.degree < 0 || hi.degree > degree ||
                                    hj.degree > degree)
                                    continue;
                                expected[static_cast<std::size_t>(i)] +=
                                    entry(hi, hj) *
                                    static_cast<double>(
                                        sources[t * parities + static_cast<std::size_t>(mirror)]
                                               [static_cast<std::size_t>(j)]);
                            }
                    }
                    for (int i = 0; i < basis.size(); ++i)
                        if (basis.at(i).degree >= 0) {
                            EXPECT_NEAR(static_cast<double>(result[t][static_cast<std::size_t>(i)]),
                                        expected[static_cast<std::size_t>(i)], tolerance)
                                << name_of(isa) << " order " << order << " target " << t << " at " << i;
                        }
                }
            }
        }
}

TYPED_TEST(Loops, SpreadServesEachMirrorImage) {
    using T = TypeParam;
    constexpr int width = 64 / static_cast<int>(sizeof(T));
    constexpr double tolerance = std::is_same_v<T, double> ? 1e-13 : 1e-4;
    const Point d{2.0, 1.0, 3.0};
    for (const int order : {0, 1, 4, 13}) {
        const HarmonicBasis basis(order, width);
        const Translation<T> translation(basis, 7, order, MultipoleToLocal(order, d));
        const auto size = static_cast<std::size_t>(basis.size());
        constexpr std::size_t count = 15; // 8 + 4 + 2 + 1
        std::vector<AlignedVector<T>> sources(count, AlignedVector<T>(size, T(0)));
        std::vector<const void*> pointers;
        for (std::size_t n = 0; n < count; ++n) {
            for (int place = 0; place < basis.size(); ++place)
                if (basis.at(place).degree >= 0)
                    sources[n][static_cast<std::size_t>(place)] =
                        static_cast<T>(std::sin(static_cast<double>(place + 17 * static_cast<int>(n))));
            pointers.push_back(sources[n].data());
        }
        const auto is_wanted = [](std::size_t n, int mirror) {
            return (n + static_cast<std::size_t>(mirror)) % 3 != 0;
        };
        for (const Isa isa : available_isas()) {
            std::vector<AlignedVector<T>> result(count * parities, AlignedVector<T>(size, T(1)));
            std::vector<void*> out;
            for (std::size_t n = 0; n < count; ++n)
                for (int mirror = 0; mirror < parities; ++mirror)
                    out.push_back(is_wanted(n, mirror) ? result[out.size()].data() : nullptr);
            AlignedVector<T> scratch(static_cast<std::size_t>(translate_scratch(basis.size())), T(NAN));
            const SpreadTask task{.translation = translation.task(),
                                  .count = count,
                                  .sources = pointers.data(),
                                  .targets = out.data(),
                                  .scratch = scratch.data()};
            FF_ISA_FUNCTION(ff_spread, isa)(&task);
            for (int mirror = 0; mirror < parities; ++mirror) {
                Point mirrored = d;
                for (std::size_t axis = 0; axis < 3; ++axis)
                    if ((mirror >> axis & 1) != 0) mirrored[axis] = -mirrored[axis];
                const MultipoleToLocal entry(order, mirrored);
                for (std::size_t n = 0; n < count; ++n) {
                    const auto& found = result[n * parities + static_cast<std::size_t>(mirror)];
                    for (int i = 0; i < basis.size(); ++i) {
                        double expected = 1.0;
                        for (int j = 0; j < basis.size() && is_wanted(n, mirror); ++j)
                            if (basis.at(i).degree >= 0 && basis.at(j).degree >= 0)
                                expected += entry(basis.at(i), basis.at(j)) *
                                            static_cast<double>(sources[n][static_cast<std::size_t>(j)]);
                        EXPECT_NEAR(static_cast<double>(found[static_cast<std::size_t>(i)]), expected,
                                    tolerance)
                            << name_of(isa) << " order " << order << " source " << n << " mirror " << mirror
                            << " at " << i;
                    }
                }
            }
        }
    }
}

} // namespace
} // namespace farfield
