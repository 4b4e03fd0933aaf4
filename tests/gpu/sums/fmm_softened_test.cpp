// Fast multipole sums of softened kernels on a GPU: those of the CPU at the same order and leaf but for
// rounding, and within what the order gives of the sum of every pair.
//
// In double, sums of n terms in another order differ by some √n·1e-16 of their terms; charges of both signs
// cancel, and matrices add to that: 1e-11. An order p leaves about 10^−(1.5 + 0.31 p) (fmm/shape.cpp), here
// with a factor of 10.
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
#include <string_view>

namespace farfield {
namespace {

using test::charges;
using test::Cloud;
using test::cloud;
using test::computed;
using test::relative_error;
using test::Values;

/// Far below a leaf of the cube, about a leaf, and larger than all points.
constexpr double softenings[] = {1e-4, 0.02, 0.15, 30.0};

struct SoftenedCase {
    Cloud kind = Cloud::cube;
    int m = 0; ///< 0: targets are the sources
    int order = 8;
    double softening = 0.1;
    Precision precision = Precision::float64;
    int leaf = 20;
    int separation = 1;
};

SumOptions options_of(const SoftenedCase& at, DeviceKind device) {
    SumOptions options{.kernel = Kernel::coulomb,
                       .method = Method::fmm,
                       .softening = at.softening,
                       .precision = at.precision};
    options.device.kind = device;
    options.order = at.order;
    options.leaf = at.leaf;
    options.separation = at.separation;
    return options;
}

bool has_pass(const SumReport& report, std::string_view name) {
    return std::any_of(report.passes.begin(), report.passes.end(),
                       [&](const PassTime& pass) { return pass.name == name; });
}

void expect_accurate(const SoftenedCase& at) {
    SCOPED_TRACE("cloud " + std::to_string(static_cast<int>(at.kind)) + ", targets " + std::to_string(at.m) +
                 ", order " + std::to_string(at.order) + ", softening " + std::to_string(at.softening));
    constexpr int n = 4000;
    const auto sources = cloud(at.kind, n, 3);
    const auto targets = cloud(at.kind, at.m, 4);
    const auto q = charges(n, 5);
    auto direct = options_of(at, DeviceKind::cpu);
    direct.method = Method::direct;
    direct.precision = Precision::float64;
    direct.order = direct.leaf = direct.separation = 0;
    const auto exact = computed(sources, targets, q, direct);
    const auto host = computed(sources, targets, q, options_of(at, DeviceKind::cpu));
    const auto got = computed(sources, targets, q, options_of(at, DeviceKind::cuda));
    EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
    EXPECT_EQ(got.report.fmm.cells, host.report.fmm.cells);
    EXPECT_EQ(got.report.fmm.near_pairs, host.report.fmm.near_pairs);
    EXPECT_EQ(has_pass(got.report, "softening"), has_pass(host.report, "softening"));
    EXPECT_EQ(has_pass(got.report, "M2L"), has_pass(host.report, "M2L"));
    const double rounding =
        at.precision == Precision::float64 ? 1e-11 : test::float_rounding(sources, targets, at.softening);
    const double digits = at.separation == 1 ? 1.5 + 0.31 * at.order : 1.6 + 0.52 * at.order;
    const double truncation = 10.0 * std::pow(10.0, -digits);
    EXPECT_LT(relative_error(got.potential, host.potential), rounding);
    EXPECT_LT(relative_error(got.field, host.field), rounding);
    EXPECT_LT(relative_error(got.potential, exact.potential), truncation + rounding);
    EXPECT_LT(relative_error(got.field, exact.field), truncation + rounding);
    const auto again = computed(sources, targets, q, options_of(at, DeviceKind::cuda));
    EXPECT_EQ(got.potential, again.potential); // the same bits
    EXPECT_EQ(got.field, again.field);
}

TEST(SoftenedFmmOnGpu, IsThatOfTheHostAndAsAccurateAsItsOrder) {
    NEEDS_GPU();
    for (const auto kind : {Cloud::cube, Cloud::clustered, Cloud::plummer})
        for (const int m : {0, 900})
            for (const double softening : softenings)
                for (const int order : {5, 12}) {
                    expect_accurate({.kind = kind, .m = m, .order = order, .softening = softening});
                    if (HasFailure()) return;
                }
    for (const double softening : softenings)
        for (const auto kind : {Cloud::cube, Cloud::plummer})
            expect_accurate(
                {.kind = kind, .order = 10, .softening = softening, .precision = Precision::mixed});
    for (const double softening : softenings) {
        expect_accurate({.order = 8, .softening = softening, .separation = 2});
        expect_accurate({.order = 24, .softening = softening, .leaf = 60});
    }
}

TEST(SoftenedFmmOnGpu, ReachesTolerances) {
    NEEDS_GPU();
    const auto points = cloud(Cloud::plummer, 20000, 6);
    const Values masses(20000, 1.0 / 20000);
    for (const double softening : {1e-3, 0.05, 1.0})
        for (const double tolerance : {1e-2, 1e-4, 1e-7}) {
            SumOptions options{.kernel = Kernel::gravity, .method = Method::fmm, .softening = softening};
            options.device.kind = DeviceKind::cuda;
            options.tolerance = tolerance;
            const auto got = computed(points, {}, masses, options);
            for (const auto& error : got.report.errors) EXPECT_LE(error.relative, tolerance);
            EXPECT_EQ(got.report.errors.size(), 2U);
            EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
            EXPECT_GT(got.report.fmm.multiply_adds, 0.0);
        }
}

// Softened, a pair at one place has a potential and no field.
TEST(SoftenedFmmOnGpu, TakesCoincidentPoints) {
    NEEDS_GPU();
    auto points = cloud(Cloud::cube, 3000, 8);
    std::copy(points.begin(), points.begin() + 3, points.begin() + 600);
    const auto q = charges(3000, 9);
    auto direct = options_of({.order = 12, .softening = 0.02}, DeviceKind::cpu);
    direct.method = Method::direct;
    direct.order = direct.leaf = direct.separation = 0;
    const auto got = computed(points, {}, q, options_of({.order = 12, .softening = 0.02}, DeviceKind::cuda));
    EXPECT_LT(relative_error(got.potential, computed(points, {}, q, direct).potential), 1e-3);
    EXPECT_EQ(got.report.direct.coincident_pairs_skipped, 0);
}

// A plan whose points move finds other operators, and with the first points the first bits again.
TEST(SoftenedFmmOnGpu, FollowsPointsThatMove) {
    NEEDS_GPU();
    const auto points = cloud(Cloud::plummer, 3000, 10);
    auto larger = points;
    for (auto& x : larger) x *= 3.0;
    const auto q = charges(3000, 11);
    const auto options = options_of({.order = 9, .softening = 0.05}, DeviceKind::cuda);
    const auto field = [&](SumPlan& plan) {
        Values out(points.size());
        SumOutputs outputs;
        outputs.field = matrix_view(std::span<double>(out), 3);
        plan.execute(test::list(q), outputs);
        return out;
    };
    SumPlan plan(test::rows(points), options);
    const auto first = field(plan);
    plan.update(test::rows(larger));
    SumPlan fresh(test::rows(larger), options);
    EXPECT_EQ(field(plan), field(fresh));
    plan.update(test::rows(points));
    EXPECT_EQ(field(plan), first);
}

} // namespace
} // namespace farfield
