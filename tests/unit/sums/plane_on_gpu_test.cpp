// What kernels of a GPU do for sums in the plane, on the host: terms of pairs, and the products of tensor
// cores piece by piece.
#include "sums/fmm/plane/gpu_plane_shape.h"
#include "sums/fmm/plane/narrow_series.h"
#include "sums/fmm/plane/tensor_operators.h"
#include "sums/kernels/plane_terms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <vector>

namespace farfield {
namespace {

using Complex = std::complex<double>;
Complex complex_of(const PlaneNumber& value) { return {value.re, value.im}; }

TEST(PlaneTerms, AreThoseOfTheirFormulas) {
    for (int k = -400; k <= 400; ++k) {
        const double r2 = std::exp(0.1 * k + 0.013);
        const auto terms = plane::point_terms<true>(r2);
        EXPECT_NEAR(terms.log, std::log(r2), 4e-16 * (1.0 + std::abs(std::log(r2)))) << r2;
        EXPECT_NEAR(terms.inverse * r2, 1.0, 5e-16) << r2;
        EXPECT_EQ(plane::point_terms<false>(r2).log, 0.0);
        if (std::abs(k) > 300) continue;
        const auto single = plane::point_terms<true>(static_cast<float>(r2));
        const double log = static_cast<double>(plane::unit_of_log<float> * single.log);
        EXPECT_NEAR(log, std::log(r2), 4e-7 * (1.0 + std::abs(std::log(r2)))) << r2;
        EXPECT_NEAR(static_cast<double>(single.inverse) * r2, 1.0, 3e-7) << r2;
    }
    EXPECT_FALSE(std::isfinite(plane::point_terms<true>(0.0).inverse));
    EXPECT_FALSE(std::isfinite(plane::point_terms<true>(0.0F).inverse));
}

TEST(PlaneTerms, TwoInversesAreThoseOfEach) {
    for (int k = -50; k <= 50; ++k) // from what keeps r² from 0 to pads far beyond all points
        for (int l = -50; l <= 50; ++l) {
            const float a = std::exp(0.69F * static_cast<float>(k)),
                        b = std::exp(0.69F * static_cast<float>(l));
            const auto two = plane::two_inverses(a, b, 0.25F);
            EXPECT_NEAR(two.first * a, 0.25F, 1e-7F) << a << " " << b;
            EXPECT_NEAR(two.second * b, 0.25F, 1e-7F) << a << " " << b;
        }
}

TEST(PlaneClose, IsWiderForMoreDigits) {
    const auto close = [](int order, int separation) {
        return static_cast<double>(plane_close({.order = order, .separation = separation}));
    };
    EXPECT_LT(close(5, 1), 1e-3);
    EXPECT_LT(close(9, 1), close(11, 1));
    EXPECT_LT(close(9, 1), close(9, 2)); // which has more digits
    EXPECT_EQ(close(30, 1), 1.0 / 16.0);
}

TEST(PlaneTerms, HaveTheCores) {
    const double core2 = 3.5; // 1/(2σ²)
    for (int k = -120; k <= 50; ++k) {
        const double x = std::exp(0.1 * k), r2 = x / core2;
        const auto terms = plane::core_terms<true>(r2, core2);
        EXPECT_NEAR(terms.inverse, -std::expm1(-x) / r2, 1e-14 / r2 * std::min(x, 1.0)) << x;
        EXPECT_NEAR(terms.log, std::log(r2) - std::expint(-x), 4e-14 * (1.0 + std::abs(std::log(r2)))) << x;
    }
    EXPECT_NEAR(plane::core_terms<false>(0.0, core2).inverse, core2, 1e-15 * core2); // its limit
    EXPECT_NEAR(plane::core_terms<false>(0.0F, 3.5F).inverse, core2, 1e-6);
}

/// D_out·matrix·D_in·x of a sender, as the pieces of the matrix give it.
std::vector<Complex> by_pieces(const PlaneTensorOperators& all, const PlaneOperator& of,
                               const PlaneSender& sender, const std::vector<Complex>& x) {
    std::vector<Complex> sums(static_cast<std::size_t>(all.rows));
    for (int step = 0; step < (sender.terms + 3) / 4; ++step)
        for (int tile = 0; tile < std::min(all.row_tiles, sender.terms / 16 + 1); ++tile)
            for (int lane = 0; lane < 32; ++lane)
                for (int half = 0; half < 2; ++half) {
                    const int row = 16 * tile + lane / 4 + 8 * half, column = 4 * step + lane % 4;
                    if (column > all.order) continue;
                    const auto in = of.in[static_cast<std::size_t>(sender.diagonal * all.columns + column)];
                    const auto piece =
                        static_cast<std::size_t>(64 * (step * all.row_tiles + tile) + 2 * lane + half);
                    sums[static_cast<std::size_t>(row)] +=
                        of.matrix[piece] * complex_of(in) * x[static_cast<std::size_t>(column)];
                }
    for (int row = 0; row < all.rows; ++row)
        sums[static_cast<std::size_t>(row)] *=
            complex_of(of.out[static_cast<std::size_t>(sender.diagonal * all.rows + row)]);
    return sums;
}

/// What a sender's whole matrix makes of an expansion as it lies in memory.
std::vector<Complex> by_whole(const PlaneOperator& of, const PlaneSender& sender,
                              const std::vector<Complex>& x, int steps) {
    const auto number = [&](int column) {
        if (column / 2 >= static_cast<int>(x.size())) return 0.0;
        const auto& value = x[static_cast<std::size_t>(column / 2)];
        return column % 2 == 0 ? value.real() : value.imag();
    };
    std::vector<double> sums(32);
    for (int step = 0; step < steps; ++step)
        for (int tile = 0; tile < 2; ++tile)
            for (int lane = 0; lane < 32; ++lane)
                for (int half = 0; half < 2; ++half) {
                    const auto piece = static_cast<std::size_t>(
                        64 * (2 * (of.whole.steps * sender.diagonal + step) + tile) + 2 * lane + half);
                    sums[static_cast<std::size_t>(16 * tile + lane / 4 + 8 * half)] +=
                        of.whole.matrices[piece] * number(PlaneWhole::column(of.whole.steps, step, lane));
                }
    std::vector<Complex> out;
    for (std::size_t row = 0; row < 32; row += 2) out.emplace_back(sums[row], sums[row + 1]);
    return out;
}

Complex multipole_w(const std::vector<Complex>& a, Complex u) {
    Complex sum = 0.0, power = 1.0 / u;
    for (const auto& value : a) {
        sum += value * power;
        power /= u;
    }
    return sum;
}
double multipole_potential(const std::vector<Complex>& a, Complex u) {
    Complex sum = a[0] * std::log(u), power = 1.0;
    for (std::size_t k = 1; k < a.size(); ++k) {
        power /= u;
        sum -= a[k] * power / static_cast<double>(k);
    }
    return sum.real();
}

std::vector<Complex> decaying(int order, double ratio) {
    std::mt19937 engine(3);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<Complex> a{Complex(uniform(engine))};
    for (int k = 1; k <= order; ++k)
        a.emplace_back(std::pow(ratio, k) * Complex(uniform(engine), uniform(engine)));
    return a;
}

/// w and Re F of a local expansion (C, g_n).
Complex local_w(const std::vector<Complex>& g, Complex u) {
    Complex sum = 0.0, power = 1.0;
    for (std::size_t n = 1; n < g.size(); ++n, power *= u) sum += g[n] * power;
    return sum;
}
double local_potential(const std::vector<Complex>& g, Complex u) {
    Complex sum = g[0].real(), power = u;
    for (std::size_t n = 1; n < g.size(); ++n, power *= u) sum += g[n] * power / static_cast<double>(n);
    return sum.real();
}

// Values of local expansions are those of the multipole expansions that they come from.
TEST(PlaneTensorOperators, TranslateExpansions) {
    for (const int order : {2, 14, 15, 30, 38})
        for (const int coarse : {1, 5}) {
            const PlaneTensorOperators all(
                {.order = order, .separation = 1, .coarse = coarse, .grading = 0.0});
            const auto& of = all.across;
            const auto a = decaying(order, 0.1); // so that what the order leaves out is small
            for (const auto& sender : of.senders) {
                auto local = by_pieces(all, of, sender, a);
                local.resize(static_cast<std::size_t>(all.local_size));
                local[0] = local[0].real() + a[0].real() * sender.log_distance;
                const auto inverse = of.in[static_cast<std::size_t>(sender.diagonal * all.columns + 1)];
                const auto t = 1.0 / complex_of(inverse);
                for (const Complex u : {Complex(0.02, -0.03), Complex(-0.01, 0.04)}) {
                    const double error = 2.0 * std::pow(0.05, order + 1) + 1e-13;
                    EXPECT_NEAR(std::abs(local_w(local, u) - multipole_w(a, t + u)), 0.0, error) << order;
                    EXPECT_NEAR(local_potential(local, u), multipole_potential(a, t + u), error) << order;
                }
            }
        }
}

// A series of floats has the values of its local expansion to the digits of floats.
TEST(NarrowSeries, IsItsLocalExpansion) {
    auto g = decaying(8, 0.9);
    g.insert(g.begin(), -1.3);
    NarrowSeries<10> series; // one term more than there are
    series.constant = -1.3F;
    for (int n = 0; n + 1 < static_cast<int>(g.size()); ++n) {
        const auto& value = g[static_cast<std::size_t>(n) + 1];
        series.set(n, {value.real(), value.imag()});
    }
    for (const Complex u : {Complex(0.0, 0.0), Complex(0.4, -0.5), Complex(-0.5, 0.5), Complex(0.1, 0.3)}) {
        const auto value = series.at(static_cast<float>(u.real()), static_cast<float>(u.imag()));
        EXPECT_NEAR(static_cast<double>(value.potential), local_potential(g, u), 3e-7);
        EXPECT_NEAR(std::abs(Complex(value.w_re, value.w_im) - local_w(g, u)), 0.0, 5e-7);
    }
}

// Lanes of floats that each form every fourth coefficient have those of the expansion.
TEST(NarrowPowers, AreAMultipoleExpansion) {
    constexpr int order = 9, lanes = 4, numbers = 3;
    const Complex points[] = {{0.4, -0.5}, {-0.3, 0.2}, {0.5, 0.5}};
    const Complex strengths[] = {{1.25, -0.5}, {-0.75, 0.25}, {0.5, 2.0}};
    std::vector<Complex> complex_sum(order + 1), real_sum(order + 1);
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k <= order; ++k) {
            complex_sum[static_cast<std::size_t>(k)] += strengths[i] * std::pow(points[i], k);
            real_sum[static_cast<std::size_t>(k)] += strengths[i].real() * std::pow(points[i], k);
        }
    for (int lane = 0; lane < lanes; ++lane) {
        NarrowPowers<numbers, lanes, true> of_complex;
        NarrowPowers<numbers, lanes, false> of_real;
        for (int i = 0; i < 3; ++i) {
            const auto x = static_cast<float>(points[i].real()), y = static_cast<float>(points[i].imag());
            const auto a = static_cast<float>(strengths[i].real());
            of_complex.add(x, y, a, static_cast<float>(strengths[i].imag()), lane);
            of_real.add(x, y, a, 0.0F, lane);
        }
        for (int c = 0; c < numbers && lane + lanes * c <= order; ++c) {
            const auto k = static_cast<std::size_t>(lane + lanes * c);
            EXPECT_NEAR(std::abs(Complex(of_complex.re[c], of_complex.im[c]) - complex_sum[k]), 0.0, 4e-7);
            EXPECT_NEAR(std::abs(Complex(of_real.re[c], of_real.im[c]) - real_sum[k]), 0.0, 2e-7);
        }
    }
}

TEST(PlaneTensorOperators, ListTheSendersOfEachQuadrant) {
    for (const int separation : {1, 2}) {
        const PlaneTensorOperators all({.order = 6, .separation = separation, .coarse = 3, .grading = 0.6});
        const auto& of = all.across;
        const int around = 4 * (2 * separation + 1) * (2 * separation + 1);
        const int near = (2 * separation + 1) * (2 * separation + 1);
        for (std::size_t quadrant = 0; quadrant < 4; ++quadrant)
            EXPECT_EQ(of.first_sender[quadrant + 1] - of.first_sender[quadrant], around - near);
        // offsets up to 2 along both axes of the coarsest level, without neighbours
        EXPECT_EQ(of.first_sender[5] - of.first_sender[4], separation == 1 ? 25 - 9 : 0);
        for (const auto& sender : of.senders) EXPECT_LE(sender.terms, 7);
    }
}

// A multipole expansion of a child, shifted to its parent, has the same values, as has a parent's local one.
TEST(PlaneTensorOperators, ShiftExpansions) {
    for (const int order : {20, 33}) {
        const PlaneTensorOperators all({.order = order});
        const auto a = decaying(order, 0.2);
        std::vector<Complex> g = a; // C, then g_n
        g.insert(g.begin(), 0.7);
        const Complex child[] = {{-0.25, -0.25}, {0.25, -0.25}, {-0.25, 0.25}, {0.25, 0.25}};
        for (std::size_t quadrant = 0; quadrant < 4; ++quadrant) {
            auto parent = by_pieces(all, all.up, all.up.senders[quadrant], a);
            parent.resize(static_cast<std::size_t>(order) + 1);
            const auto s = child[quadrant];
            const Complex far(1.6, -1.1); // in widths of the parent, whose child is half as wide
            EXPECT_NEAR(std::abs(multipole_w(parent, far) - 2.0 * multipole_w(a, 2.0 * (far - s))), 0.0,
                        1e-8);

            const auto& sender = all.down.senders[static_cast<std::size_t>(all.down.first_sender[quadrant])];
            auto local = by_pieces(all, all.down, sender, a);
            local.resize(static_cast<std::size_t>(all.local_size));
            local[0] = local[0].real() + g[0].real();
            const Complex u(0.3, -0.2); // in widths of the child
            EXPECT_NEAR(std::abs(2.0 * local_w(local, u) - local_w(g, s + 0.5 * u)), 0.0, 1e-12);
            EXPECT_NEAR(local_potential(local, u), local_potential(g, s + 0.5 * u), 1e-12);
        }
    }
}

// Whole matrices of low orders make what the products of diagonals and pieces do.
TEST(PlaneTensorOperators, AreWholeMatricesAtLowOrders) {
    EXPECT_TRUE(PlaneTensorOperators({.order = 3}).across.whole.matrices.empty());
    EXPECT_TRUE(PlaneTensorOperators({.order = 12}).across.whole.matrices.empty());
    for (int order = 4; order <= 11; ++order) {
        const PlaneTensorOperators all({.order = order, .separation = 1, .coarse = 3, .grading = 0.6});
        const auto a = decaying(order, 0.3);
        const auto expect_same = [&](const std::vector<Complex>& whole, const std::vector<Complex>& parts,
                                     int terms) {
            for (int row = 0; row < terms; ++row) {
                const auto i = static_cast<std::size_t>(row);
                EXPECT_NEAR(std::abs(whole[i] - parts[i]), 0.0, 2e-14) << order << " " << row;
            }
        };
        for (const auto& sender : all.across.senders) {
            auto full = sender;
            full.terms = order + 1;
            auto parts = by_pieces(all, all.across, full, a);
            parts[0] = parts[0].real() + a[0].real() * sender.log_distance;
            auto whole = by_whole(all.across, sender, a, all.across.whole.steps);
            EXPECT_NEAR(whole[0].imag(), a[0].real(), 1e-15);
            whole[0] = whole[0].real();
            expect_same(whole, parts, order + 2);
            if (sender.terms > PlaneWhole::short_terms) continue;
            // what its own order asks for lies in the first steps and rows
            parts = by_pieces(all, all.across, sender, a);
            parts[0] = parts[0].real() + a[0].real() * sender.log_distance;
            auto few = a;
            few.resize(std::min(few.size(), static_cast<std::size_t>(4 * ((sender.terms + 3) / 4))));
            whole = by_whole(all.across, sender, few, PlaneWhole::short_steps);
            whole[0] = whole[0].real();
            constexpr int tile = 8;
            expect_same(whole, parts,
                        sender.terms > PlaneWhole::terms_of_tile ? std::max(tile, order + 2) : tile);
        }
        std::vector<Complex> g = a; // C, then g_n
        g.insert(g.begin(), 0.7);
        for (const auto& sender : all.up.senders)
            expect_same(by_whole(all.up, sender, a, all.up.whole.steps), by_pieces(all, all.up, sender, a),
                        order + 1);
        for (const auto& sender : all.down.senders) {
            auto parts = by_pieces(all, all.down, sender, a);
            parts[0] = parts[0].real() + 0.7;
            expect_same(by_whole(all.down, sender, g, all.down.whole.steps), parts, order + 2);
        }
    }
}

} // namespace
} // namespace farfield
