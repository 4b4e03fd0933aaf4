// Images softened to the tolerance at any softening, by `direct` and the fast multipole method, against sums
// in long double that split nothing (soft_lattice_oracle.h).
#include "lattice_cases.h"
#include "soft_lattice_oracle.h"

#include "effort.h"
#include "expect_error.h"

#include <farfield/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace farfield {
namespace {

using namespace test;
using Box = std::array<double, 3>;

SumOptions options_of(Method method, const Box& period, double softening, double tolerance) {
    return {.kernel = Kernel::coulomb,
            .method = method,
            .softening = softening,
            .period = period,
            .tolerance = tolerance};
}

double shortest(const Box& period) {
    double out = HUGE_VAL;
    for (const double length : period)
        if (length > 0.0) out = std::min(out, length);
    return out;
}

/// Random and neutral; no pair is closer than `apart` along an axis, where the oracle's series are long.
Charges spread_charges(std::size_t n, const Box& period, unsigned seed, double open = 0.7) {
    constexpr double apart = 0.05;
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    const double longest = *std::max_element(period.begin(), period.end());
    Charges out;
    double total = 0.0;
    while (out.size() < n) {
        std::array<double, 3> x{};
        for (std::size_t k = 0; k < 3; ++k)
            x[k] = (period[k] > 0.0 ? period[k] : open * longest) * uniform(engine);
        bool fits = true;
        for (std::size_t j = 0; j < out.size(); ++j) {
            std::array<double, 3> d{};
            for (std::size_t k = 0; k < 3; ++k) {
                d[k] = x[k] - out.points[3 * j + k];
                if (period[k] > 0.0) d[k] -= period[k] * std::round(d[k] / period[k]);
            }
            for (std::size_t k = 0; k < 3; ++k)
                fits = fits && std::hypot(d[k], d[(k + 1) % 3]) > apart * shortest(period);
        }
        if (!fits) continue;
        out.points.insert(out.points.end(), x.begin(), x.end());
        out.strengths.push_back(out.size() + 1 < n ? uniform(engine) - 0.5 : -total);
        total += out.strengths.back();
    }
    return out;
}

TEST(SoftOracle, AgreesWithOtherSums) {
    // Fourier series of the softened kernel; less and less softening goes over into none
    const Vector box{1.0L, 1.2L, 0.8L}, d{0.3L, 0.2L, -0.15L};
    for (const Real softening : {0.15L, 0.6L, 2.0L}) {
        const auto series = lattice_oracle::soft_charges({d, {}}, box, softening);
        const auto layers = soft_lattice_oracle::unit_charge(d, box, softening);
        EXPECT_NEAR(static_cast<double>(layers.potential), static_cast<double>(series[0].potential), 1e-13);
        for (std::size_t k = 0; k < 3; ++k)
            EXPECT_NEAR(static_cast<double>(layers.field[k]), static_cast<double>(series[0].field[k]), 1e-13);
        EXPECT_NEAR(static_cast<double>(soft_lattice_oracle::own_images(box, softening)),
                    static_cast<double>(series[1].potential - 1 / softening), 1e-13);
    }
    for (const auto& length : {box, Vector{1.0L, 1.2L, 0.0L}, Vector{0.0L, 0.7L, 0.0L}}) {
        EXPECT_NEAR(static_cast<double>(soft_lattice_oracle::unit_charge(d, length, 1e-8L).potential),
                    static_cast<double>(open_lattice_oracle::unit_charge(d, length).potential), 1e-13);
        // both ways to own images meet
        EXPECT_NEAR(
            static_cast<double>(soft_lattice_oracle::own_images(length, 0.11L)),
            static_cast<double>(soft_lattice_oracle::unit_charge({}, length, 0.11L).potential - 1 / 0.11L),
            1e-13);
    }
    // images along a line one by one, less (2/L) ln 2NL
    const Real length = 0.7L, softening = 0.4L;
    const int last = 20000;
    Real sum = -2 / length * std::log(2 * (last + 0.5L) * length);
    for (int n = -last; n <= last; ++n)
        sum += 1 / std::sqrt(d[0] * d[0] + d[2] * d[2] + softening * softening +
                             (d[1] - n * length) * (d[1] - n * length));
    EXPECT_NEAR(
        static_cast<double>(sum),
        static_cast<double>(soft_lattice_oracle::unit_charge(d, {0.0L, length, 0.0L}, softening).potential),
        1e-8);
}

class SoftImagesOf : public testing::TestWithParam<Box> {};
INSTANTIATE_TEST_SUITE_P(Boxes, SoftImagesOf,
                         testing::Values(Box{1.0, 1.0, 1.0}, Box{2.0, 1.0, 1.4}, Box{1.0, 1.0, 0.0},
                                         Box{0.0, 1.3, 0.6}, Box{1.0, 0.0, 0.0}, Box{0.0, 0.0, 3e-7}));

TEST_P(SoftImagesOf, KeepTolerancesAtAnySoftening) {
    const auto& period = GetParam();
    const bool is_closed = period[0] * period[1] * period[2] > 0.0;
    const auto charges = spread_charges(14, period, 7);
    // operators along three axes take seconds each
    const bool is_short = is_closed && shorter(), is_shortest = is_closed && fewer();
    for (const double share : is_shortest ? std::vector{1.0}
                              : is_short  ? std::vector{0.03, 1.0}
                                          : std::vector{1e-3, 0.03, 0.3, 1.0, 3.0}) {
        const double softening = share * shortest(period);
        const auto exact = soft_lattice_oracle::sums(charges, box_of(period), softening);
        for (const double tolerance : is_shortest ? std::vector{1e-2}
                                      : is_short  ? std::vector{1e-2, 1e-6}
                                                  : std::vector{1e-2, 1e-4, 1e-6, 1e-9})
            for (const auto method : {Method::direct, Method::fmm}) {
                const auto options = options_of(method, period, softening, tolerance);
                SCOPED_TRACE(testing::Message() << share << ' ' << tolerance << ' ' << name_of(method));
                if (is_closed && share > 2.0 && tolerance < 1e-6) {
                    // fields cancel but for e^(−2πε/L)
                    continue;
                }
                const auto result = periodic_sum(charges, options);
                const auto errors = errors_against(result, exact);
                EXPECT_LT(errors.potential, tolerance);
                EXPECT_LT(errors.field, tolerance);
                ASSERT_EQ(result.report.errors.size(), 2U);
                // what it says of itself is what it is
                EXPECT_NEAR(result.report.errors[0].relative, errors.potential,
                            0.01 * errors.potential + 0.01 * tolerance);
                EXPECT_NEAR(result.report.errors[1].relative, errors.field,
                            0.01 * errors.field + 0.01 * tolerance);
            }
    }
}

} // namespace
} // namespace farfield
