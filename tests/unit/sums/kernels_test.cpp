// The rows of the table of kernels against what their formulas do: each property that a row states is
// measured on a pair of points.
#include "sums/kernels/kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace farfield {
namespace {

using Values = std::vector<double>;
constexpr double scale = 1.75;

/// All outputs of one target at the origin for two sources, all lengths multiplied by `s`.
Values outputs_of(const KernelInfo& kernel, int dimension, double s, double sigma_scale,
                  double softening = 0.0, std::int64_t own = -1) {
    Values points, strengths;
    for (int j = 0; j < 2; ++j) {
        for (int k = 0; k < dimension; ++k) points.push_back(s * (0.3 + 0.2 * j - 0.11 * k));
        for (int c = 0; c < kernel.strength.columns; ++c) strengths.push_back(1.5 - j + 0.25 * c);
    }
    Values target(static_cast<std::size_t>(dimension), 0.0);
    if (own >= 0) target.assign(points.begin() + own * dimension, points.begin() + (own + 1) * dimension);
    Values out(static_cast<std::size_t>(kernel.width(dimension)), 0.0);
    (void)kernel.exact({.dimension = dimension,
                        .columns = kernel.strength.columns,
                        .sources = 2,
                        .points = points.data(),
                        .strengths = strengths.data(),
                        .target = target.data(),
                        .own = own,
                        .softening = softening,
                        .sigma = kernel.has_sigma ? 0.5 * sigma_scale : 0.0,
                        .with_hessian = true},
                       out.data());
    return out;
}

/// Calls body(kernel, dimension) for every kernel in every dimension that it has.
template <class Body>
void for_each_kernel(Body&& body) {
    for (const auto* kernel : kernels())
        for (int d = kernel->least_dimension; d <= kernel->most_dimension; ++d) {
            SCOPED_TRACE(std::string(kernel->name) + " in " + std::to_string(d));
            body(*kernel, d);
        }
}

// Callers that do not ask for it have no room for it.
TEST(Kernels, GiveTheHessianOnlyWhereItIsAskedFor) {
    const auto& kernel = kernel_info(Kernel::coulomb);
    const Values source{1.0, 2.0, -0.5}, strength{2.0}, target(3, 0.0);
    Values out(static_cast<std::size_t>(kernel.width(3)), 0.0);
    (void)kernel.exact(
        {.sources = 1, .points = source.data(), .strengths = strength.data(), .target = target.data()},
        out.data());
    EXPECT_NE(out[3], 0.0);
    for (std::size_t k = 4; k < out.size(); ++k) EXPECT_EQ(out[k], 0.0) << k;
    EXPECT_EQ(kernel.outputs.back().output, Output::hessian);
}

TEST(Kernels, StandInTheOrderOfTheEnum) {
    int number = 0;
    for (const auto* kernel : kernels()) {
        EXPECT_EQ(static_cast<int>(kernel->value), number++);
        EXPECT_EQ(from_name<Kernel>(kernel->name), kernel->value);
        EXPECT_NE(kernel->find(Output::potential), nullptr);
        EXPECT_EQ(kernel->find(Output::potential), kernel->outputs.data()) << "the potential comes first";
    }
}

// Exponents of up to 10 here make rounding of the arguments ten times as large: 1e-13 is allowed.
TEST(Kernels, ScaleAsTheirRowsSay) {
    for_each_kernel([](const KernelInfo& kernel, int d) {
        const auto before = outputs_of(kernel, d, 1.0, 1.0);
        const bool own_lengths = kernel.scaling == Scaling::own_lengths;
        const auto after = outputs_of(kernel, d, scale, kernel.has_sigma ? scale : 1.0);
        std::size_t first = 0;
        for (const auto& info : kernel.outputs) {
            const auto width = static_cast<std::size_t>(kernel.width(info, d));
            for (std::size_t k = first; k < first + width; ++k) {
                double expected = before[k];
                if (!own_lengths)
                    expected *= std::pow(scale, info.length_power);
                else if (info.shape == OutputShape::vector)
                    expected /= scale; // a gradient by lengths
                if (kernel.scaling == Scaling::power_and_log && info.shape == OutputShape::value)
                    expected -= (k == 0 ? 1.5 + 0.5 : 1.75 + 0.75) * kernel.sign * std::log(scale);
                EXPECT_NEAR(after[k], expected, 1e-13 * std::abs(expected)) << k;
            }
            first += width;
        }
    });
}

TEST(Kernels, ActOnThemselvesAsTheirRowsSay) {
    for_each_kernel([](const KernelInfo& kernel, int d) {
        const auto with = outputs_of(kernel, d, 1.0, 1.0, 0.0, 0);
        auto apart = outputs_of(kernel, d, 1.0, 1.0, 0.0, -1);
        ASSERT_EQ(with.size(), apart.size());
        // the same target, its own strength moved away to infinity: what is left is the other source
        Values other(with.size(), 0.0);
        const Values points = [&] {
            Values p;
            for (int j = 0; j < 2; ++j)
                for (int k = 0; k < d; ++k) p.push_back(0.3 + 0.2 * j - 0.11 * k);
            return p;
        }();
        const Values strength = kernel.strength.columns == 1 ? Values{0.5} : Values{0.5, 0.75};
        (void)kernel.exact({.dimension = d,
                            .columns = kernel.strength.columns,
                            .sources = 1,
                            .points = points.data() + d,
                            .strengths = strength.data(),
                            .target = points.data(),
                            .sigma = kernel.has_sigma ? 0.5 : 0.0,
                            .with_hessian = true},
                           other.data());
        const double own = kernel.acts_on_itself ? 1.5 * kernel.value_on_itself : 0.0;
        EXPECT_NEAR(with[0], other[0] + own, 1e-15);
        for (std::size_t k = 1; k < with.size(); ++k) EXPECT_NEAR(with[k], other[k], 1e-14) << k;
    });
}

TEST(Kernels, SoftenAsTheirRowsSay) {
    for_each_kernel([](const KernelInfo& kernel, int d) {
        const auto hard = outputs_of(kernel, d, 1.0, 1.0);
        const auto soft = outputs_of(kernel, d, 1.0, 1.0, 0.3);
        EXPECT_EQ(hard != soft, kernel.softens);
    });
}

TEST(Kernels, LeaveOutAndCountSourcesAtTheTarget) {
    for_each_kernel([](const KernelInfo& kernel, int d) {
        const Values points(static_cast<std::size_t>(2 * d), 0.5);
        const Values strengths(static_cast<std::size_t>(2 * kernel.strength.columns), 1.0);
        Values out(static_cast<std::size_t>(kernel.width(d)), 0.0);
        const auto met = kernel.exact({.dimension = d,
                                       .columns = kernel.strength.columns,
                                       .sources = 2,
                                       .points = points.data(),
                                       .strengths = strengths.data(),
                                       .target = points.data(),
                                       .sigma = kernel.needs_sigma ? 1.0 : 0.0,
                                       .with_hessian = true},
                                      out.data());
        EXPECT_EQ(met.count, kernel.singular ? 2 : 0);
        EXPECT_EQ(met.first, kernel.singular ? 0 : -1);
        for (const double value : out) EXPECT_TRUE(std::isfinite(value));
    });
}

// Vectors are ∓ the derivative of the (real part of the) potential, or of vortices (∂ψ/∂y, −∂ψ/∂x), by
// central differences: error h²/6 times a third derivative of some 100 here.
TEST(Kernels, VectorsAreDerivativesOfThePotential) {
    for_each_kernel([](const KernelInfo& kernel, int d) {
        const Values source(static_cast<std::size_t>(d), 0.0);
        const Values strength = kernel.strength.columns == 1 ? Values{2.0} : Values{2.0, 0.0};
        const auto at = [&](const Values& target) {
            Values out(static_cast<std::size_t>(kernel.width(d)), 0.0);
            (void)kernel.exact({.dimension = d,
                                .columns = kernel.strength.columns,
                                .sources = 1,
                                .points = source.data(),
                                .strengths = strength.data(),
                                .target = target.data(),
                                .sigma = kernel.has_sigma ? 0.5 : 0.0},
                               out.data());
            return out;
        };
        Values target;
        for (int k = 0; k < d; ++k) target.push_back(0.4 + 0.1 * k);
        const auto here = at(target);
        constexpr double h = 1e-5;
        for (const auto& info : kernel.outputs) {
            if (info.shape != OutputShape::vector) continue;
            const double sign = info.output == Output::gradient ? 1.0 : -1.0;
            for (int k = 0; k < d; ++k) {
                auto ahead = target;
                auto behind = target;
                ahead[static_cast<std::size_t>(k)] += h;
                behind[static_cast<std::size_t>(k)] -= h;
                const double slope = (at(ahead)[0] - at(behind)[0]) / (2.0 * h);
                const bool turned = kernel.field_is_turned;
                const int axis = turned ? 1 - k : k;
                EXPECT_NEAR(here[static_cast<std::size_t>(kernel.strength.columns + axis)],
                            (turned && k == 1 ? 1.0 : sign) * slope, 1e-8);
            }
        }
    });
}

} // namespace
} // namespace farfield
