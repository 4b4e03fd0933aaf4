// Bounds of expansions against expansions: truncated series of 1/|d + u − v| in long double, by a recurrence
// that shares nothing with the bounds, at points anywhere and where bounds are reached.
#include "sums/expansions/basis.h"
#include "sums/expansions/operators.h"
#include "sums/fmm/bounds.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace farfield {
namespace {

using Real = long double;
using Vector = std::array<Real, 3>;

Real dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// 1/|d + u − v| less its terms of degree ≤ p in u and ≤ p in v. With g = |d + s u − t v|² the coefficients
// h_jl of g^(−1/2) in s^j t^l follow from g ∂h/∂s + ½ h ∂g/∂s = 0, for j = 0 from the same in t.
Real truncation_error(int p, const Vector& d, const Vector& u, const Vector& v) {
    const Real g00 = dot(d, d), g10 = 2 * dot(d, u), g01 = -2 * dot(d, v), g20 = dot(u, u),
               g11 = -2 * dot(u, v), g02 = dot(v, v);
    const auto n = static_cast<std::size_t>(p) + 1;
    std::vector<std::vector<Real>> h(n, std::vector<Real>(n));
    const auto at = [&](int j, int l) {
        return j < 0 || l < 0 ? Real(0) : h[static_cast<std::size_t>(j)][static_cast<std::size_t>(l)];
    };
    Real sum = 0;
    for (int j = 0; j <= p; ++j)
        for (int l = 0; l <= p; ++l) {
            Real& out = h[static_cast<std::size_t>(j)][static_cast<std::size_t>(l)];
            if (j > 0)
                out = -(g10 * (j - 0.5L) * at(j - 1, l) + g01 * j * at(j, l - 1) +
                        g20 * (j - 1) * at(j - 2, l) + g11 * (j - 0.5L) * at(j - 1, l - 1) +
                        g02 * j * at(j, l - 2)) /
                      (g00 * j);
            else if (l > 0)
                out = -(g01 * (l - 0.5L) * at(0, l - 1) + g02 * (l - 1) * at(0, l - 2)) / (g00 * l);
            else
                out = 1 / std::sqrt(g00);
            sum += out;
        }
    const Vector r{d[0] + u[0] - v[0], d[1] + u[1] - v[1], d[2] + u[2] - v[2]};
    return 1 / std::sqrt(dot(r, r)) - sum;
}

using Function = std::function<Real(const Vector&)>;

Vector gradient(const Function& f, Vector x) {
    constexpr Real h = 1e-4L;
    Vector out;
    for (std::size_t k = 0; k < 3; ++k) {
        const Real at = x[k];
        const auto difference = [&](Real step) {
            x[k] = at + step;
            const Real up = f(x);
            x[k] = at - step;
            const Real down = f(x);
            x[k] = at;
            return (up - down) / (2 * step);
        };
        out[k] = (4 * difference(h) - difference(2 * h)) / 3;
    }
    return out;
}

Real length(const Vector& x) { return std::sqrt(dot(x, x)); }

Real frobenius_of_hessian(const Function& f, const Vector& x) {
    Real sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        const auto row = gradient([&](const Vector& y) { return gradient(f, y)[k]; }, x);
        sum += dot(row, row);
    }
    return std::sqrt(sum);
}

/// Potential, field and Hessian of the error, of a charge at v or a unit dipole along `moment`.
std::array<Real, 3> errors(int p, const Vector& d, const Vector& u, const Vector& v, const Vector* moment) {
    const Function error = [&](const Vector& x) {
        if (moment == nullptr) return truncation_error(p, d, x, v);
        return dot(*moment, gradient([&](const Vector& y) { return truncation_error(p, d, x, y); }, v));
    };
    return {std::abs(error(u)), length(gradient(error, u)), frobenius_of_hessian(error, u)};
}

class RandomVector {
public:
    Vector operator()(Real size) {
        std::normal_distribution<double> normal;
        const Vector x{normal(engine_), normal(engine_), normal(engine_)};
        const Real scale = size / length(x);
        return {x[0] * scale, x[1] * scale, x[2] * scale};
    }

private:
    std::mt19937_64 engine_{7};
};

constexpr double of_differences = 1.0 + 1e-4;

TEST(FmmBounds, NoErrorIsLargerThanItsBound) {
    RandomVector random;
    for (const Vector& d : {Vector{2, 0, 0}, Vector{2, 1, -1}, Vector{3, 0, 2}})
        for (const int p : {2, 5, 8})
            for (int pair = 0; pair < 12; ++pair) {
                const double a = pair % 3 == 0 ? 0.85 : 0.5;
                const double b = pair % 4 == 0 ? 0.85 : 0.4;
                const auto moment = random(1);
                for (std::size_t source = 0; source < 2; ++source) {
                    const auto found = errors(p, d, random(b), random(a), source == 0 ? nullptr : &moment);
                    for (std::size_t target = 0; target < 3; ++target)
                        EXPECT_LE(static_cast<double>(found[target]),
                                  of_differences * translation_error(p, a, b, static_cast<double>(length(d)),
                                                                     {source, target}))
                            << p << ", " << source << " at " << target;
                }
            }
}

// Source and target on the line between the centres, towards each other: all terms have one sign there.
// Bounds count terms of high degree on both sides twice, so that half of them is reached. The Hessian there
// has the eigenvalues λ, −λ/2 and −λ/2, and its norm √(3/4) of the bound's.
TEST(FmmBounds, TheyAreReachedBetweenTheCentres) {
    for (const int p : {2, 5, 8})
        for (const double radius : {0.3, 0.6, 0.85}) {
            const Vector u{-radius, 0, 0}, v{radius, 0, 0}, moment{1, 0, 0};
            for (std::size_t source = 0; source < 2; ++source) {
                const auto found = errors(p, {2, 0, 0}, u, v, source == 0 ? nullptr : &moment);
                for (std::size_t target = 0; target < 3; ++target) {
                    const double bound = translation_error(p, radius, radius, 2.0, {source, target});
                    const double reached = 0.5 * (target == 2 ? std::sqrt(0.75) : 1.0);
                    EXPECT_LE(static_cast<double>(found[target]), of_differences * bound);
                    EXPECT_GE(of_differences * static_cast<double>(found[target]), reached * bound)
                        << p << " " << radius;
                }
            }
        }
}

TEST(FmmBounds, TailsAreTheSumsOfTheirTerms) {
    for (const int p : {1, 4, 11})
        for (std::size_t m = 0; m < 2; ++m)
            for (std::size_t n = 0; n < 3; ++n) {
                const double inner = 0.6, outer = 1.3;
                double sum = 0.0;
                for (int l = p + 1; l < 400; ++l) {
                    double term = std::pow(inner, l - static_cast<int>(m)) /
                                  std::pow(outer, l + 1 + static_cast<int>(n));
                    for (std::size_t k = 0; k < m; ++k) term *= l;
                    for (std::size_t k = 0; k < n; ++k) term *= l + 1 + static_cast<int>(k);
                    sum += term;
                }
                EXPECT_NEAR(expansion_tail(p, inner, outer, m, n), sum, 1e-12 * sum) << p << m << n;
            }
    EXPECT_EQ(expansion_tail(3, 1.0, 1.0, 0, 0), HUGE_VAL);
}

TEST(FmmBounds, SharingAWeightBetweenNodesMakesBoundsLittleLarger) {
    for (const int p : {3, 10, 25})
        for (double radius = 0.0; radius < 0.8661; radius += 0.011) {
            const auto share = radius_share(radius);
            for (std::size_t target = 0; target < 3; ++target) {
                const auto bound = [&](double a) { return translation_error(p, a, 0.7, 3.0, {0, target}); };
                const double shared = (1.0 - share.upper) * bound(radius_node(share.node)) +
                                      share.upper * bound(radius_node(share.node + 1));
                EXPECT_GE(shared, bound(radius) * (1.0 - 1e-12)) << radius;
                EXPECT_LE(shared, 1.6 * bound(radius)) << radius;
            }
        }
    EXPECT_EQ(radius_share(1.0).upper, 1.0); // a point outside of its cell
}

// The magnitudes that really occur, in the expansions' own basis.
TEST(FmmBounds, SizesAreAtLeastTheSumsOfMagnitudes) {
    RandomVector random;
    for (const int p : {3, 9}) {
        const HarmonicBasis basis(p, 8);
        const HarmonicScales scales(p);
        const auto functions = [&](const Vector& x) {
            const auto values = SolidHarmonics::regular(
                p, {static_cast<double>(x[0]), static_cast<double>(x[1]), static_cast<double>(x[2])});
            std::vector<double> out;
            for (int place = 0; place < basis.size(); ++place) {
                const auto& h = basis.at(place);
                out.push_back(h.degree < 0 ? 0.0
                                           : std::sqrt(2.0) * scales.of(h) *
                                                 (h.sine ? values.imag(h.degree, h.order)
                                                         : values.real(h.degree, h.order)));
            }
            return out;
        };
        for (const std::array<double, 3>& d : {std::array{2.0, 0.0, 0.0}, std::array{3.0, 2.0, -1.0}}) {
            const MultipoleToLocal entry(p, d);
            for (int pair = 0; pair < 10; ++pair) {
                const auto at_u = functions(random(0.6)), at_v = functions(random(0.8));
                double sum = 0.0;
                for (int i = 0; i < basis.size(); ++i)
                    for (int j = 0; j < basis.size(); ++j)
                        if (basis.at(i).degree >= 0 && basis.at(j).degree >= 0)
                            sum +=
                                std::abs(at_u[static_cast<std::size_t>(i)] * entry(basis.at(i), basis.at(j)) *
                                         at_v[static_cast<std::size_t>(j)]);
                EXPECT_LE(sum, translation_size(p, 0.8, 0.6, std::hypot(d[0], d[1], d[2]), {0, 0}));
            }
        }
    }
}

} // namespace
} // namespace farfield
