// Second derivatives and dipoles in fast multipole sums on a GPU: those of the CPU at the same order and leaf
// but for rounding, and within what the order gives of the sum of every pair.
//
// Rounding is that of fmm_softened_test.cpp. Of a near pair the Hessian, and the field of a dipole, change by
// 3 and 4 times what its distance does, the field of a charge by 2: floats get twice the bound. An order
// leaves 10^−(1.5 + 0.31 p) of fields; second derivatives of softened kernels, which have no large values of
// near pairs, up to 19 times as much on the CPU for these points, and those of dipoles up to 78 times.
#include "gpu/needs_gpu.h"
#include "gpu/sums/fmm_clouds.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

namespace farfield {
namespace {

using test::charges;
using test::Cloud;
using test::cloud;
using test::relative_error;
using test::Values;

struct WholeCase {
    Cloud kind = Cloud::cube;
    int m = 0; ///< 0: targets are the sources
    int order = 10;
    double softening = 0.0;
    Precision precision = Precision::float64;
    bool dipoles = true;
    OutputSet outputs = Output::potential | Output::field | Output::hessian;
};

SumOptions options_of(const WholeCase& at, DeviceKind device) {
    SumOptions options{.kernel = Kernel::coulomb,
                       .method = Method::fmm,
                       .softening = at.softening,
                       .precision = at.precision};
    options.device.kind = device;
    options.order = at.order;
    options.leaf = 24;
    options.outputs = at.outputs;
    return options;
}

struct Bodies {
    Values sources, targets, q, p;

    Bodies(const WholeCase& at, int n)
        : sources(cloud(at.kind, n, 3)), targets(cloud(at.kind, at.m, 4)), q(charges(n, 5)) {
        if (!at.dipoles) return;
        p = charges(3 * n, 6);
        const double length = at.kind == Cloud::plummer ? 0.1 : 0.01; // fields of both are alike
        for (auto& component : p) component *= length;
    }
    [[nodiscard]] SumResult sum_with(const SumOptions& options) const {
        const SumStrengths strengths{.charges = test::list(q),
                                     .dipoles = p.empty() ? ConstArrayView{} : test::rows(p)};
        return targets.empty()
                   ? sum(test::rows(sources), strengths, options, options.outputs)
                   : sum(test::rows(sources), test::rows(targets), strengths, options, options.outputs);
    }
};

void expect_accurate(const WholeCase& at) {
    SCOPED_TRACE("cloud " + std::to_string(static_cast<int>(at.kind)) + ", targets " + std::to_string(at.m) +
                 ", order " + std::to_string(at.order) + ", softening " + std::to_string(at.softening) +
                 (at.dipoles ? ", dipoles" : ""));
    const Bodies bodies(at, 3000);
    auto direct = options_of(at, DeviceKind::cpu);
    direct.method = Method::direct;
    direct.precision = Precision::float64;
    direct.order = direct.leaf = 0;
    const auto exact = bodies.sum_with(direct);
    const auto host = bodies.sum_with(options_of(at, DeviceKind::cpu));
    const auto got = bodies.sum_with(options_of(at, DeviceKind::cuda));
    EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
    const double rounding = at.precision == Precision::float64
                                ? 1e-11
                                : 2.0 * test::float_rounding(bodies.sources, bodies.targets, at.softening);
    const double truncation = (at.dipoles ? 150.0 : 30.0) * std::pow(10.0, -1.5 - 0.31 * at.order);
    const auto compare = [&](const Values& here, const Values& there, const Values& all) {
        ASSERT_EQ(here.size(), there.size());
        if (here.empty()) return;
        EXPECT_LT(relative_error(here, there), rounding);
        EXPECT_LT(relative_error(here, all), truncation + rounding);
    };
    compare(got.potential, host.potential, exact.potential);
    compare(got.field, host.field, exact.field);
    compare(got.hessian, host.hessian, exact.hessian);
    const auto again = bodies.sum_with(options_of(at, DeviceKind::cuda));
    EXPECT_EQ(got.potential, again.potential); // the same bits
    EXPECT_EQ(got.field, again.field);
    EXPECT_EQ(got.hessian, again.hessian);
}

TEST(WholeFmmOnGpu, IsThatOfTheHostAndAsAccurateAsItsOrder) {
    NEEDS_GPU();
    for (const auto kind : {Cloud::cube, Cloud::clustered, Cloud::plummer})
        for (const int m : {0, 700})
            for (const double softening : {0.0, 0.02, 30.0})
                for (const bool dipoles : {false, true}) {
                    expect_accurate({.kind = kind, .m = m, .softening = softening, .dipoles = dipoles});
                    if (HasFailure()) return;
                }
    for (const double softening : {0.0, 0.02})
        for (const bool dipoles : {false, true})
            expect_accurate(
                {.order = 9, .softening = softening, .precision = Precision::mixed, .dipoles = dipoles});
    expect_accurate({.order = 3});
    expect_accurate({.order = 20});
}

TEST(WholeFmmOnGpu, HasEachOutputAlone) {
    NEEDS_GPU();
    for (const double softening : {0.0, 0.1}) {
        expect_accurate({.softening = softening, .outputs = Output::potential});
        expect_accurate({.softening = softening, .outputs = Output::field});
        expect_accurate({.softening = softening, .outputs = Output::hessian});
        expect_accurate({.softening = softening, .dipoles = false, .outputs = Output::hessian});
    }
}

TEST(WholeFmmOnGpu, ReachesTolerances) {
    NEEDS_GPU();
    const WholeCase at{.kind = Cloud::clustered};
    const Bodies bodies(at, 20000);
    for (const double tolerance : {1e-3, 1e-7}) {
        auto options = options_of(at, DeviceKind::cuda);
        options.order = options.leaf = 0;
        options.tolerance = tolerance;
        const auto got = bodies.sum_with(options);
        EXPECT_EQ(got.report.errors.size(), 3U);
        for (const auto& error : got.report.errors) EXPECT_LE(error.relative, tolerance);
    }
}

TEST(WholeFmmOnGpu, SkipsOrNamesCoincidentPoints) {
    NEEDS_GPU();
    const WholeCase at{.order = 12};
    Bodies bodies(at, 3000);
    std::copy(bodies.sources.begin(), bodies.sources.begin() + 3, bodies.sources.begin() + 600);
    auto options = options_of(at, DeviceKind::cuda);
    EXPECT_THROW((void)bodies.sum_with(options), InvalidArgument);
    options.coincident = Coincident::skip;
    auto direct = options_of(at, DeviceKind::cpu);
    direct.method = Method::direct;
    direct.order = direct.leaf = 0;
    direct.coincident = Coincident::skip;
    const auto got = bodies.sum_with(options);
    const auto exact = bodies.sum_with(direct);
    EXPECT_LT(relative_error(got.field, exact.field), 1e-4);
    EXPECT_LT(relative_error(got.hessian, exact.hessian), 1e-4);
    EXPECT_EQ(got.report.direct.coincident_pairs_skipped, 2);
}

TEST(WholeFmmOnGpu, NamesADipoleThatIsNotFinite) {
    NEEDS_GPU();
    const WholeCase at;
    Bodies bodies(at, 100);
    bodies.p[3 * 17 + 1] = std::nan("");
    try {
        (void)bodies.sum_with(options_of(at, DeviceKind::cuda));
        FAIL() << "it was taken";
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find("row 17"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("dipoles"), std::string::npos) << error.what();
    }
}

// Floats hold a point to 6e-8 of the width of its leaf, a tenth here: 3 times that over 1e-5 would be 2e-3 of
// the Hessian. Mixed sums take the difference of such a pair in double, and add 4e-6 as floats do.
TEST(WholeFmmOnGpu, KeepsTheDigitsOfClosePairsInMixedPrecision) {
    NEEDS_GPU();
    for (const bool dipoles : {false, true}) {
        const WholeCase at{.order = 12, .precision = Precision::mixed, .dipoles = dipoles};
        Bodies bodies(at, 2000);
        for (std::size_t i = 0; i < 3000; ++i)
            bodies.sources[3000 + i] = bodies.sources[i] + (i % 3 == 0 ? 1e-5 : 0.0);
        auto direct = options_of(at, DeviceKind::cpu);
        direct.method = Method::direct;
        direct.precision = Precision::float64;
        direct.order = direct.leaf = 0;
        const auto got = bodies.sum_with(options_of(at, DeviceKind::cuda));
        const auto exact = bodies.sum_with(direct);
        EXPECT_LT(relative_error(got.field, exact.field), 1e-5);
        EXPECT_LT(relative_error(got.hessian, exact.hessian), 1e-5);
    }
}

// Without dipoles again, a plan has forgotten them.
TEST(WholeFmmOnGpu, TakesDipolesInOneExecutionAndNoneInTheNext) {
    NEEDS_GPU();
    const WholeCase at{.softening = 0.05, .outputs = Output::field};
    const Bodies bodies(at, 2000);
    SumPlan plan(test::rows(bodies.sources), options_of(at, DeviceKind::cuda));
    const auto field = [&](const SumStrengths& strengths) {
        Values out(bodies.sources.size());
        SumOutputs outputs;
        outputs.field = matrix_view(std::span<double>(out), 3);
        plan.execute(strengths, outputs);
        return out;
    };
    const auto first = field({.charges = test::list(bodies.q)});
    const auto second = field({.charges = test::list(bodies.q), .dipoles = test::rows(bodies.p)});
    EXPECT_EQ(field({.charges = test::list(bodies.q)}), first);
    EXPECT_GT(relative_error(second, first), 0.01);
    const auto dipoles = field({.charges = {}, .dipoles = test::rows(bodies.p)}); // alone: linear
    Values sum(first);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += dipoles[i];
    EXPECT_LT(relative_error(sum, second), 1e-11);
}

} // namespace
} // namespace farfield
