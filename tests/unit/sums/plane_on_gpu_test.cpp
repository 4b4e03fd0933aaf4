// What kernels of a GPU do for sums in the plane, on the host: terms of pairs, and the products of tensor cores
// piece by piece.
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
        EXPECT_NEAR(single.log, std::log(r2), 4e-7 * (1.0 + std::abs(std::log(r2)))) << r2;
        EXPECT_NEAR(single.inverse * r2, 1.0, 3e-7) << r2;
    }
    EXPECT_FALSE(std::isfinite(plane::point_terms<true>(0.0).inverse));
    EXPECT_FALSE(std::isfinite(plane::point_terms<true>(0.0F).inverse));
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

/// (C, g_n) of one sender, as the pieces of the matrix give it.
std::vector<Complex> by_pieces(const PlaneTensorOperators& of, const PlaneSender& sender,
                               const std::vector<Complex>& a) {
    std::vector<Complex> sums(static_cast<std::size_t>(of.rows()));
    for (int step = 0; step < (sender.terms + 3) / 4; ++step)
        for (int tile = 0; tile < std::min(of.row_tiles, sender.terms / 16 + 1); ++tile)
            for (int lane = 0; lane < 32; ++lane)
                for (int half = 0; half < 2; ++half) {
                    const int row = 16 * tile + lane / 4 + 8 * half, column = 4 * step + lane % 4;
                    if (column > of.order) continue;
                    const auto in =
                        complex_of(of.in[static_cast<std::size_t>(sender.distance * of.columns() + column)]);
                    const auto piece = static_cast<std::size_t>(64 * (step * of.row_tiles + tile) + 2 * lane + half);
                    sums[static_cast<std::size_t>(row)] +=
                        of.matrix[piece] * in * a[static_cast<std::size_t>(column)];
                }
    std::vector<Complex> out;
    for (int row = 0; row < of.local_size; ++row)
        out.push_back(complex_of(of.out[static_cast<std::size_t>(sender.distance * of.rows() + row)]) *
                      sums[static_cast<std::size_t>(row)]);
    out[0] = out[0].real() + a[0].real() * sender.log_distance;
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

// Values of local expansions are those of the multipole expansions that they come from.
TEST(PlaneTensorOperators, TranslateExpansions) {
    for (const int order : {2, 14, 15, 30, 38})
        for (const int coarse : {1, 5}) {
            const PlaneTensorOperators of({.order = order, .separation = 1, .coarse = coarse, .grading = 0.0});
            const auto a = decaying(order, 0.1); // so that what the order leaves out is small
            for (const auto& sender : of.senders) {
                const auto local = by_pieces(of, sender, a);
                const auto t = 1.0 / complex_of(of.in[static_cast<std::size_t>(sender.distance * of.columns() + 1)]);
                for (const Complex u : {Complex(0.02, -0.03), Complex(-0.01, 0.04)}) {
                    Complex w = 0.0, power = 1.0;
                    double potential = local[0].real();
                    for (int n = 0; n <= order; ++n) {
                        w += local[static_cast<std::size_t>(n) + 1] * power;
                        power *= u;
                        potential += (local[static_cast<std::size_t>(n) + 1] * power).real() / (n + 1);
                    }
                    const double error = 2.0 * std::pow(0.05, order + 1) + 1e-13;
                    EXPECT_NEAR(std::abs(w - multipole_w(a, t + u)), 0.0, error) << order;
                    EXPECT_NEAR(potential, multipole_potential(a, t + u), error) << order;
                }
            }
        }
}

TEST(PlaneTensorOperators, ListTheSendersOfEachQuadrant) {
    for (const int separation : {1, 2}) {
        const PlaneTensorOperators of({.order = 6, .separation = separation, .coarse = 3, .grading = 0.6});
        const int all = 4 * (2 * separation + 1) * (2 * separation + 1);
        const int near = (2 * separation + 1) * (2 * separation + 1);
        for (std::size_t quadrant = 0; quadrant < 4; ++quadrant)
            EXPECT_EQ(of.first_sender[quadrant + 1] - of.first_sender[quadrant], all - near);
        // offsets up to 2 along both axes of the coarsest level, without neighbours
        EXPECT_EQ(of.first_sender[5] - of.first_sender[4], separation == 1 ? 25 - 9 : 0);
        for (const auto& sender : of.senders) EXPECT_LE(sender.terms, 7);
    }
}

// A multipole expansion of a child, shifted to its parent, has the same values.
TEST(PlaneTensorOperators, ShiftExpansions) {
    const int order = 20;
    const PlaneTensorOperators of({.order = order});
    const auto a = decaying(order, 0.2);
    const auto size = static_cast<std::size_t>(of.shift_size);
    for (std::size_t quadrant = 0; quadrant < 4; ++quadrant) {
        std::vector<Complex> parent;
        for (std::size_t k = 0; k < a.size(); ++k) {
            Complex sum = 0.0;
            for (std::size_t l = 0; l < a.size(); ++l)
                sum += of.up[l * size + k] * complex_of(of.up_in[quadrant * size + l]) * a[l];
            parent.push_back(complex_of(of.up_out[quadrant * size + k]) * sum);
        }
        const auto s = complex_of(of.to_child[quadrant]);
        const Complex u(1.6, -1.1); // in widths of the parent, whose child is half as wide
        EXPECT_NEAR(std::abs(multipole_w(parent, u) - 2.0 * multipole_w(a, 2.0 * (u - s))), 0.0, 1e-11);
    }
}

} // namespace
} // namespace farfield
