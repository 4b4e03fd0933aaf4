// The formulas of `farfield reproduce m2l-2d` on the host. Oracle: the expansion of one source is summed as
// it is defined, in long double, at points of a circle about the target's centre, and Cauchy's integral by
// the trapezoidal rule gives its Taylor coefficients: no binomial is in it. With n points on radius ρ term n
// takes up what term n + points has, (ρ/|d|)^points of it: 64 points and ρ = 1/2 leave 4^−64.
#include "studies/m2l_2d/grid.h"
#include "studies/m2l_2d/paper_rows.h"
#include "studies/m2l_2d/problem.h"
#include "studies/m2l_2d/tensor_operands.h"
#include "studies/m2l_2d/translation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace farfield::m2l2d {
namespace {

using Long = std::complex<long double>;
using Terms = std::vector<Number>;

// What an expansion of a source is at u from the target's centre.
Long paper_field(const Terms& m, Long d, Long u) {
    Long sum = 0, power = 1;
    for (const auto& term : m) sum += Long(term.re, term.im) * (power /= d + u);
    return sum;
}
Long potential(const Terms& a, Long d, Long u) {
    // the branch of the logarithm that is smooth around the target
    Long sum = -Long(a[0].re, a[0].im) * (std::log(d) + std::log(Long(1) + u / d)), power = 1;
    for (std::size_t k = 1; k < a.size(); ++k) sum += Long(a[k].re, a[k].im) * (power /= d + u);
    return sum;
}

std::vector<Long> taylor(const Terms& terms, Form form, Long d) {
    constexpr int points = 64;
    constexpr long double radius = 0.5L;
    std::vector<Long> sum(terms.size());
    for (int j = 0; j < points; ++j) {
        const long double angle = 2 * std::numbers::pi_v<long double> * j / points;
        const Long u = std::polar(radius, angle);
        const Long value = form == Form::paper ? paper_field(terms, d, u) : potential(terms, d, u);
        for (std::size_t n = 0; n < sum.size(); ++n)
            sum[n] += value * std::polar(1.0L, -angle * static_cast<long double>(n)) /
                      (points * std::pow(radius, static_cast<long double>(n)));
    }
    return sum;
}

// Terms as charges in a box have them, with parts of all signs.
Terms some_terms(int p, int seed) {
    const auto problem = make_problem(p, 2, 1);
    const auto begin = problem.field.begin() + seed * p;
    return {begin, begin + p};
}

Long offset_value(Offset offset) {
    return {static_cast<long double>(offset.x), static_cast<long double>(offset.y)};
}

// Relative, weighted as error_of does. Rounding: some p² terms of up to C(2p, p) 2^(−2p) ≤ 1.
template <class Get>
double difference(const std::vector<Long>& exact, const Get& get) {
    long double off = 0, norm = 0;
    for (std::size_t n = 0; n < exact.size(); ++n) {
        const auto value = get(static_cast<int>(n));
        const long double weight = std::pow(2.0L, -static_cast<long double>(n));
        off += weight * std::norm(Long(value.re, value.im) - exact[n]);
        norm += weight * std::norm(exact[n]);
    }
    return static_cast<double>(std::sqrt(off / norm));
}

constexpr double rounding = 1e-14;

template <int p>
void check_rows() {
    for (int quarter = 0; quarter < quarters; ++quarter)
        for (int slot = 0; slot < list_size; ++slot) {
            const auto offset = offset_of(quarter, slot);
            const auto m = some_terms(p, slot % 16);
            const auto exact = taylor(m, Form::paper, offset_value(offset));
            const auto t = reciprocal(static_cast<double>(offset.x), static_cast<double>(offset.y));
            EXPECT_LT(difference(exact, [&](int n) { return row_of_figure_6(m.data(), t, n, p); }), rounding);
            EXPECT_LT(difference(exact, [&](int n) { return row_of_figure_7<p>(m.data(), t, n); }), rounding);
            EXPECT_LT(difference(exact, [&](int n) { return row_unrolled<p>(m.data(), t, n); }), rounding);
            Terms l(3 * p, Number{0, 0}), matrix(static_cast<std::size_t>(3 * p * p));
            diagonals_of_figure_5(m.data(), t, p, l.data() + 1, 3);
            EXPECT_LT(difference(exact, [&](int n) { return l[static_cast<std::size_t>(3 * n + 1)]; }),
                      rounding);
            store_matrix(t, p, matrix.data() + 2, 3);
            EXPECT_LT(difference(exact,
                                 [&](int n) {
                                     Number sum{0, 0};
                                     for (int k = 0; k < p; ++k)
                                         sum = multiply_add(
                                             matrix[static_cast<std::size_t>(3 * (n * p + k) + 2)],
                                             m[static_cast<std::size_t>(k)], sum);
                                     return sum;
                                 }),
                      rounding);
        }
}

TEST(M2l2d, EveryWayOfThePaperGivesTheTaylorCoefficients) {
    check_rows<8>();
    check_rows<12>();
    check_rows<16>();
}

template <int p>
void check_shared() {
    const auto powers = offset_powers(p), logs = offset_logs();
    for (int quarter = 0; quarter < quarters; ++quarter)
        for (int slot = 0; slot < list_size; ++slot) {
            const auto row = static_cast<std::size_t>(quarter * list_size + slot);
            const auto a = some_terms(p, slot % 16);
            const auto exact = taylor(a, Form::with_logarithm, offset_value(offset_of(quarter, slot)));
            Terms b(p);
            shared_translation<p>(
                a.data(), [&](int k) { return powers[row * p + static_cast<std::size_t>(k)]; }, logs[row],
                [&](int n, const Number& value) { b[static_cast<std::size_t>(n)] = value; });
            EXPECT_LT(difference(exact, [&](int n) { return b[static_cast<std::size_t>(n)]; }), rounding);
        }
}

TEST(M2l2d, TheSharedOperatorGivesTheTaylorCoefficientsWithTheLogarithm) {
    check_shared<8>();
    check_shared<12>();
    check_shared<16>();
}

// The Taylor coefficients at the turns of an orbit, each of an own source where `own` says so.
std::vector<std::vector<Long>> taylor_of_turns(int p, int quarter, int orbit, bool own) {
    std::vector<std::vector<Long>> exact;
    for (int turn = 0; turn < turns_of(orbit); ++turn)
        exact.push_back(taylor(some_terms(p, own ? turn : 5), Form::with_logarithm,
                               offset_value(offset_of(quarter, first_slot(orbit) + turn))));
    return exact;
}

template <int p, int turns>
void check_orbit(int quarter, int orbit) {
    const auto powers = offset_powers(p), logs = offset_logs();
    const auto row = static_cast<std::size_t>(quarter * list_size + first_slot(orbit));
    const auto power = [&](int k) { return powers[row * p + static_cast<std::size_t>(k)]; };
    const auto log = [&](int turn) { return logs[row + static_cast<std::size_t>(turn)]; };

    const auto spread_exact = taylor_of_turns(p, quarter, orbit, false);
    std::vector<Terms> spread(turns, Terms(p));
    spread_orbit<p, turns>(some_terms(p, 5).data(), power, log, [&](int n, int turn, const Number& value) {
        spread[static_cast<std::size_t>(turn)][static_cast<std::size_t>(n)] = value;
    });
    for (std::size_t turn = 0; turn < turns; ++turn)
        EXPECT_LT(
            difference(spread_exact[turn], [&](int n) { return spread[turn][static_cast<std::size_t>(n)]; }),
            rounding)
            << p << ' ' << quarter << ' ' << orbit << ' ' << turn;

    const auto gather_exact = taylor_of_turns(p, quarter, orbit, true);
    std::vector<Long> sum(p);
    for (const auto& of_turn : gather_exact)
        for (std::size_t n = 0; n < p; ++n) sum[n] += of_turn[n];
    std::vector<Terms> sources;
    for (int turn = 0; turn < turns; ++turn) sources.push_back(some_terms(p, turn));
    Terms b(p, Number{0, 0});
    gather_orbit<p, turns>(b.data(), power, log, [&](int k, int turn) {
        return sources[static_cast<std::size_t>(turn)][static_cast<std::size_t>(k)];
    });
    EXPECT_LT(difference(sum, [&](int n) { return b[static_cast<std::size_t>(n)]; }), rounding)
        << p << ' ' << quarter << ' ' << orbit;
}

template <int p>
void check_orbits() {
    for (int quarter = 0; quarter < quarters; ++quarter)
        for (int orbit = 0; orbit < orbits; ++orbit) {
            if (turns_of(orbit) == 4) check_orbit<p, 4>(quarter, orbit);
            if (turns_of(orbit) == 2) check_orbit<p, 2>(quarter, orbit);
            if (turns_of(orbit) == 1) check_orbit<p, 1>(quarter, orbit);
        }
}

TEST(M2l2d, TurnsOfAnOrbitShareAProduct) {
    check_orbits<8>();
    check_orbits<12>();
    check_orbits<16>();
}

// The host's sums that kernels are held against: their own formulas, box by box, against the oracle.
TEST(M2l2d, TheHostsSumsAreThoseOfTheTranslations) {
    constexpr int p = 8;
    const auto problem = make_problem(p, 3, 1);
    for (const auto form : {Form::paper, Form::with_logarithm})
        for (const int number : {3, 15, 16, 61}) {
            const auto box = box_at(number);
            std::vector<Long> exact(p);
            for (int slot = 0; slot < list_size; ++slot) {
                const auto offset = offset_of(quarter_of(box.x, box.y), slot);
                const auto source = number_of(at_offset(box, offset));
                const auto begin = problem.multipoles(form).begin() + source * p;
                const Terms terms(begin, begin + p);
                // turned as whole numbers: −0 would take the logarithm to its other branch
                const auto of_one = taylor(terms, form, offset_value(turned(offset, 2)));
                for (std::size_t n = 0; n < p; ++n) exact[n] += of_one[n];
                if (form == Form::with_logarithm)
                    exact[0] -= Long(terms[0].re, terms[0].im) *
                                std::log(1.0L / static_cast<long double>(boxes_an_axis(box.level)));
            }
            const auto local = host_local(problem, form, number);
            EXPECT_LT(difference(exact, [&](int n) { return local[static_cast<std::size_t>(n)]; }), rounding);
        }
}

// The matrices for tensor cores, put together again, are the translations.
TEST(M2l2d, TensorOperandsAreTheTranslations) {
    constexpr int p = 12, slot = 5, quarter = 1;
    const auto operands = tensor_operands(p);
    ASSERT_EQ(operands.size(), static_cast<std::size_t>(quarters * list_size * operands_a_slot(p)));
    const auto a = some_terms(p, 3);
    const auto exact = taylor(a, Form::with_logarithm, offset_value(turned(offset_of(quarter, slot), 2)));
    Terms b(16, Number{0, 0});
    std::size_t at = static_cast<std::size_t>((quarter * list_size + slot) * operands_a_slot(p));
    for (int step = 0; step < column_steps(p); ++step)
        for (int tile = 0; tile < row_tiles(p); ++tile)
            for (int lane = 0; lane < 32; ++lane, ++at) {
                const auto& part = operands[at];
                EXPECT_EQ(in_tf32(static_cast<double>(part.re)), part.re);
                auto& sum = b[static_cast<std::size_t>(8 * tile + lane / 4)];
                sum = multiply_add({static_cast<double>(part.re) + static_cast<double>(part.re_rest),
                                    static_cast<double>(part.im) + static_cast<double>(part.im_rest)},
                                   a[static_cast<std::size_t>(4 * step + lane % 4)], sum);
            }
    EXPECT_LT(difference(exact, [&](int n) { return b[static_cast<std::size_t>(n)]; }),
              1e-6); // 2⁻²² and more
    EXPECT_EQ(b[13].re, 0.0);
    EXPECT_EQ(in_tf32(1.0), 1.0F);
    EXPECT_EQ(in_tf32(1.0 + 1.0 / 2048), 1.0F); // a tie goes to the even one
    EXPECT_EQ(in_tf32(-1.0 - 3.0 / 2048), -1.0F - 2.0F / 1024);
}

} // namespace
} // namespace farfield::m2l2d
