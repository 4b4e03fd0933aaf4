// What kernels of a GPU know of derivatives: sets of second ones against differences of first ones, and what
// dipoles add to expansions against differences of the functions.
#include "unit/sums/plain_products.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using test::Inverted;
using test::looped;
using test::Point;
using test::row_product;
using test::set_at;

constexpr double step = 1e-5;

Point moved(Point at, std::size_t axis, double by) {
    at[axis] += by;
    return at;
}

struct Kind {
    std::string name;
    const PlainOperators<double>* operators;
    const PlainFunctions<double>*first, *second;
    bool outside;
    Point at; ///< within the cell, or beyond it
};

class PlainDerivatives : public testing::Test {
protected:
    PlainDerivatives()
        : harmonics_(order(), 1),
          polynomials_(order(), softened_operators<double>({order(), 0.4, 2}, 1)->polynomials),
          kinds_{
              {"local", &harmonics_, &harmonics_.inside, &harmonics_.inside_second, false, {0.2, -0.3, 0.4}},
              {"multipole",
               &harmonics_,
               &harmonics_.outside,
               &harmonics_.outside_second,
               true,
               {1.1, -0.9, 1.3}},
              {"polynomials",
               &polynomials_,
               &polynomials_.inside,
               &polynomials_.inside_second,
               false,
               {0.2, -0.3, 0.4}}} {}

    static FmmOrder order() {
        FmmOrder out;
        out.order = 7;
        return out;
    }

    PlainOperators<double> harmonics_, polynomials_;
    std::vector<Kind> kinds_;
};

TEST_F(PlainDerivatives, OfSecondOrderAreThoseOfTheFirst) {
    std::mt19937 engine(8);
    std::normal_distribution<double> normal;
    for (const auto& kind : kinds_) {
        SCOPED_TRACE(kind.name);
        std::vector<double> expansion(static_cast<std::size_t>(kind.operators->size));
        for (auto& x : expansion) x = normal(engine);
        const auto derivative = [&](std::size_t axis, const Point& at) {
            return set_at(*kind.first, 1 + axis, expansion, at, kind.outside);
        };
        std::size_t set = 0;
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t b = a; b < 3; ++b, ++set) {
                const double slope =
                    (derivative(a, moved(kind.at, b, step)) - derivative(a, moved(kind.at, b, -step))) /
                    (2.0 * step);
                const double got = set_at(*kind.second, set, expansion, kind.at, kind.outside);
                EXPECT_NEAR(got, slope, 1e-6 * (1.0 + std::abs(slope)));
                EXPECT_NE(got, 0.0);
            }
        for (; set < 8; ++set) // groups are of four
            EXPECT_EQ(set_at(*kind.second, set, expansion, kind.at, kind.outside), 0.0);
    }
}

/// Of a unit charge at v, as P2M and P2L form it.
std::vector<double> expansion_of(const Kind& kind, const Point& v) {
    const Inverted inverted(v);
    const auto values = looped(kind.operators->inside, kind.outside ? inverted.at : v);
    std::vector<double> out(static_cast<std::size_t>(kind.operators->size));
    for (std::size_t n = 0; n < values.size(); ++n)
        if (const auto place = kind.operators->inside.places[n]; place >= 0)
            out[static_cast<std::size_t>(place)] = values[n] * (kind.outside ? inverted.weight : 1.0);
    return out;
}

TEST_F(PlainDerivatives, OfFunctionsAtSourcesMakeDipoles) {
    for (const auto& kind : kinds_) {
        SCOPED_TRACE(kind.name);
        const Inverted inverted(kind.at);
        auto functions = looped(*kind.first, kind.outside ? inverted.at : kind.at);
        if (kind.outside)
            for (auto& value : functions) value *= inverted.weight;
        const auto size = static_cast<std::size_t>(kind.operators->size);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const auto ahead = expansion_of(kind, moved(kind.at, axis, step));
            const auto behind = expansion_of(kind, moved(kind.at, axis, -step));
            for (std::size_t i = 0; i < size; ++i) {
                const double slope = (ahead[i] - behind[i]) / (2.0 * step);
                const double got = row_product(kind.first->gradients, axis * size + i, functions);
                ASSERT_NEAR(got, slope, 1e-7 * (1.0 + std::abs(slope)));
            }
        }
    }
}

} // namespace
} // namespace farfield
