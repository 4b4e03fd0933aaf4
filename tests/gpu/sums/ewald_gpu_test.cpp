// Ewald's method on a GPU: beside the tests of box sums against their oracle (oracle/lattice/ewald_test.cpp,
// which run there as well), larger systems against the CPU's, to a tolerance that is a hundred times as
// tight, batches of points, and what only GPUs have: arrays of their own, streams, counters.
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
            .method = Method::ewald,
            .period = period,
            .tolerance = tolerance,
            .device = {.kind = device}};
}

TEST(EwaldOnGpu, AgreesWithTheCpu) {
    NEEDS_GPU();
    for (const auto kind : {Cloud::cube, Cloud::plummer, Cloud::clustered})
        for (const int m : {0, 1500})
            for (const double softening : {0.0, 0.3}) {
                const std::array period{2.0, 3.0, 2.5};
                const Bodies bodies(kind, 6000, m);
                auto options = in_box(period, 1e-11, DeviceKind::cpu);
                options.softening = softening;
                const auto exact = bodies.sum_with(options);
                options.device.kind = DeviceKind::cuda;
                for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
                    SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << ", " << m << " targets, ε "
                                                    << softening << ", " << tolerance);
                    options.tolerance = tolerance;
                    const auto got = bodies.sum_with(options);
                    EXPECT_EQ(got.report.device.kind, DeviceKind::cuda);
                    EXPECT_LT(relative_error(got.potential, exact.potential), tolerance);
                    EXPECT_LT(relative_error(got.field, exact.field), tolerance);
                    const auto again = bodies.sum_with(options);
                    EXPECT_EQ(got.potential, again.potential); // the same bits
                    EXPECT_EQ(got.field, again.field);
                }
                options.tolerance = 0.0; // each output would be refined until it keeps a tolerance
                const auto both = bodies.sum_with(options);
                EXPECT_EQ(bodies.sum_with(options, Output::potential).potential, both.potential);
                EXPECT_EQ(bodies.sum_with(options, Output::field).field, both.field);
            }
}

// More points than phases are kept of at a time, and waves of long and short rows.
TEST(EwaldOnGpu, SumsBatchesInBoxesOfAnyShape) {
    NEEDS_GPU();
    for (const auto& period :
         {std::array{1.0, 1.0, 1.0}, std::array{0.5, 2.0, 1.0}, std::array{2e9, 5e9, 3e9}}) {
        Bodies bodies(Cloud::cube, 60000, 300);
        for (auto* points : {&bodies.sources, &bodies.targets})
            for (std::size_t i = 0; i < points->size(); ++i) (*points)[i] *= period[i % 3];
        const auto exact = bodies.sum_with(in_box(period, 1e-9, DeviceKind::cpu));
        const auto got = bodies.sum_with(in_box(period, 1e-7, DeviceKind::cuda));
        EXPECT_GT(got.report.lattice.waves, 1000);
        EXPECT_LT(relative_error(got.potential, exact.potential), 1e-7) << period[0];
        EXPECT_LT(relative_error(got.field, exact.field), 1e-7) << period[0];
        // targets in batches
        std::swap(bodies.sources, bodies.targets);
        bodies.q.resize(300);
        double total = 0.0;
        for (const double q : bodies.q) total += q;
        for (auto& q : bodies.q) q -= total / 300.0;
        const auto few = bodies.sum_with(in_box(period, 1e-9, DeviceKind::cpu));
        const auto at_many = bodies.sum_with(in_box(period, 1e-7, DeviceKind::cuda));
        EXPECT_LT(relative_error(at_many.potential, few.potential), 1e-7) << period[0];
        EXPECT_LT(relative_error(at_many.field, few.field), 1e-7) << period[0];
    }
}

TEST(EwaldOnGpu, Reports) {
    NEEDS_GPU();
    const Bodies bodies(Cloud::cube, 5000, 0);
    const auto report = bodies.sum_with(in_box({1.0, 1.0, 1.0}, 1e-5, DeviceKind::cuda)).report;
    EXPECT_GT(report.lattice.splitting, 0.0);
    EXPECT_GT(report.lattice.cutoff, 0.0);
    EXPECT_GT(report.lattice.wave_cutoff, 0.0);
    EXPECT_GT(report.lattice.waves, 100);
    EXPECT_GT(report.lattice.near_pairs, 5000);
    std::string passes;
    for (const auto& pass : report.passes) {
        passes += pass.name + ";";
        EXPECT_GT(pass.seconds, 0.0);
    }
    EXPECT_EQ(passes, "near images;structure factors;waves;other terms;");
    EXPECT_GT(report.predicted_bytes, 0.0);
    ASSERT_EQ(report.errors.size(), 2U);
    for (const auto& error : report.errors) EXPECT_LT(error.relative, 1e-5);
    EXPECT_EQ(report.precision, Precision::float64);
    EXPECT_EQ(report.method, Method::ewald);
}

// At every question, those between batches with it.
TEST(EwaldOnGpu, CanBeGivenUp) {
    NEEDS_GPU();
    const std::size_t n = 60000;
    const Bodies bodies(Cloud::cube, static_cast<int>(n), 0);
    const auto options = in_box({1.0, 1.0, 1.0}, 0.0, DeviceKind::cuda);
    SumPlan plan(test::rows(bodies.sources), options);
    Values potential(n, -1.0);
    const SumOutputs outputs{.potential = std::span<double>(potential)};
    int questions = 0;
    for (bool ends = false; !ends && questions < 100;) {
        int asked = 0;
        SumHooks hooks;
        hooks.stop_requested = [&] { return asked++ >= questions; };
        try {
            plan.execute(test::list(bodies.q), outputs, hooks);
            ends = true;
        } catch (const Interrupted&) {
            EXPECT_EQ(potential, Values(n, -1.0)); // nothing is written
            ++questions;
        }
    }
    EXPECT_GE(questions, 6); // two batches of sources and of targets
    EXPECT_LT(questions, 100);
    EXPECT_EQ(potential, bodies.sum_with(options).potential);
}

TEST(EwaldOnGpu, SumsFewPoints) {
    NEEDS_GPU();
    for (const int n : {1, 2, 5}) {
        const Bodies bodies(Cloud::cube, n, 3);
        auto options = in_box({1.0, 1.0, 1.0}, 0.0, DeviceKind::cuda);
        options.background = Background::uniform;
        auto on_cpu = options;
        on_cpu.device.kind = DeviceKind::cpu;
        on_cpu.tolerance = 1e-11;
        auto charged = bodies;
        charged.q[0] += 2.0;
        const auto expected = charged.sum_with(on_cpu);
        const auto got = charged.sum_with(options);
        EXPECT_LT(relative_error(got.potential, expected.potential), 1e-6) << n;
        EXPECT_LT(relative_error(got.field, expected.field), 1e-6) << n;
    }
}

} // namespace
} // namespace farfield
