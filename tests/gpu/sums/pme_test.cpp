// Particle-mesh Ewald on a GPU: beside the tests of box sums against their oracle
// (oracle/lattice/ewald_test.cpp, which run there as well), larger systems against the CPU's, to a tolerance
// that is a hundred times as tight, and what only GPUs have: arrays of their own, streams, counters.
#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "gpu/sums/box_bodies.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace farfield {
namespace {

using test::Bodies;
using test::Cloud;
using test::error_of;
using test::expect_contains;
using test::relative_error;
using test::Values;

SumOptions in_box(const std::array<double, 3>& period, double tolerance, DeviceKind device) {
    return {.kernel = Kernel::coulomb,
            .method = Method::pme,
            .period = period,
            .tolerance = tolerance,
            .device = {.kind = device}};
}

TEST(PmeOnGpu, AgreesWithTheCpu) {
    NEEDS_GPU();
    for (const auto kind : {Cloud::cube, Cloud::plummer, Cloud::clustered})
        for (const int m : {0, 1500})
            for (const double softening : {0.0, 0.3})
                for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
                    const std::array period{2.0, 3.0, 2.5};
                    SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << ", " << m << " targets, ε "
                                                    << softening << ", " << tolerance);
                    const Bodies bodies(kind, 8000, m);
                    auto options = in_box(period, std::max(1e-2 * tolerance, 1e-11), DeviceKind::cpu);
                    options.softening = softening;
                    const auto exact = bodies.sum_with(options);
                    options.tolerance = tolerance;
                    options.device.kind = DeviceKind::cuda;
                    const auto got = bodies.sum_with(options);
                    EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
                    EXPECT_LT(relative_error(got.potential, exact.potential), tolerance);
                    EXPECT_LT(relative_error(got.field, exact.field), tolerance);
                    const auto again = bodies.sum_with(options);
                    EXPECT_EQ(got.potential, again.potential); // the same bits
                    EXPECT_EQ(got.field, again.field);
                }
}

TEST(PmeOnGpu, HasSplinesOfEveryOrder) {
    NEEDS_GPU();
    const Bodies bodies(Cloud::cube, 3000, 0);
    const auto exact = bodies.sum_with(in_box({1.0, 1.0, 1.0}, 1e-10, DeviceKind::cpu));
    for (int order = 4; order <= 14; ++order) {
        const double tolerance = std::pow(10.0, -std::min(0.6 * order, 7.0));
        auto options = in_box({1.0, 1.0, 1.0}, tolerance, DeviceKind::cuda);
        options.order = order;
        const auto got = bodies.sum_with(options);
        EXPECT_EQ(got.report.lattice.order, order);
        EXPECT_LT(relative_error(got.potential, exact.potential), tolerance) << order;
        EXPECT_LT(relative_error(got.field, exact.field), tolerance) << order;
        EXPECT_EQ(bodies.sum_with(options, Output::potential).potential, got.potential) << order;
        EXPECT_EQ(bodies.sum_with(options, Output::field).field, got.field) << order;
    }
}

// What splits and meshes are chosen by is in the report, passes with it.
TEST(PmeOnGpu, Reports) {
    NEEDS_GPU();
    const Bodies bodies(Cloud::cube, 5000, 0);
    const auto report = bodies.sum_with(in_box({1.0, 1.0, 1.0}, 1e-5, DeviceKind::cuda)).report;
    EXPECT_GT(report.lattice.splitting, 0.0);
    EXPECT_GT(report.lattice.cutoff, 0.0);
    EXPECT_GT(report.lattice.near_pairs, 5000);
    for (const auto n : report.lattice.mesh) EXPECT_GE(n, report.lattice.order);
    std::string passes;
    for (const auto& pass : report.passes) {
        passes += pass.name + ";";
        EXPECT_GT(pass.seconds, 0.0);
    }
    EXPECT_EQ(passes, "near images;spreading;transforms;gathering;other terms;");
    EXPECT_GT(report.predicted_bytes, 0.0);
    ASSERT_EQ(report.errors.size(), 2U);
    for (const auto& error : report.errors) EXPECT_LT(error.relative, 1e-5);
    EXPECT_EQ(report.precision, Precision::float64);
    auto options = in_box({1.0, 1.0, 1.0}, 1e-5, DeviceKind::cuda);
    options.method = Method::automatic; // by the cost table
    const auto chosen = bodies.sum_with(options).report;
    EXPECT_EQ(chosen.method, Method::pme);
    EXPECT_EQ(chosen.device.kind, DeviceKind::cuda);
}

TEST(PmeOnGpu, CanBeGivenUp) {
    NEEDS_GPU();
    const Bodies bodies(Cloud::cube, 2000, 0);
    SumPlan plan(test::rows(bodies.sources), in_box({1.0, 1.0, 1.0}, 0.0, DeviceKind::cuda));
    Values potential(2000, -1.0);
    const SumOutputs outputs{.potential = std::span<double>(potential)};
    for (int asked_before = 0; asked_before < 3; ++asked_before) {
        int asked = 0;
        SumHooks hooks;
        hooks.stop_requested = [&] { return asked++ >= asked_before; };
        EXPECT_THROW(plan.execute(test::list(bodies.q), outputs, hooks), Interrupted);
        EXPECT_EQ(potential, Values(2000, -1.0)); // nothing is written
    }
    plan.execute(test::list(bodies.q), outputs);
    EXPECT_EQ(potential, bodies.sum_with(in_box({1.0, 1.0, 1.0}, 0.0, DeviceKind::cuda)).potential);
}

} // namespace
} // namespace farfield
