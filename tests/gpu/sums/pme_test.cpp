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

// Arrays of the GPU are read and written where they lie, on the caller's stream.
TEST(PmeOnGpu, TakesArraysOfTheGpu) {
    NEEDS_GPU();
    const Bodies bodies(Cloud::cube, 4000, 0);
    auto options = in_box({1.0, 1.0, 1.0}, 0.0, DeviceKind::cuda);
    options.boundary = Boundary::vacuum;
    const auto expected = bodies.sum_with(options);
    const std::int64_t n = 4000;
    const cuda::Stream stream;
    cuda::DeviceArray<double> x(bodies.sources.size()), q(bodies.q.size()), potential(bodies.q.size()),
        field(bodies.sources.size());
    const auto view = [](cuda::DeviceArray<double>& array, std::initializer_list<std::int64_t> shape) {
        return ArrayView(array.data(), DType::float64, shape, {DeviceType::cuda, 0});
    };
    cuda::copy(x.data(), bodies.sources.data(), x.size(), stream.get());
    cuda::copy(q.data(), bodies.q.data(), q.size(), stream.get());
    options.stream = stream.get();
    SumPlan plan(view(x, {n, 3}), options);
    for (int repeat = 0; repeat < 2; ++repeat) {
        plan.execute(view(q, {n}), {.potential = view(potential, {n}), .field = view(field, {n, 3})});
        Values phi(potential.size()), e(field.size());
        cuda::copy(phi.data(), potential.data(), phi.size(), stream.get());
        cuda::copy(e.data(), field.data(), e.size(), stream.get());
        stream.synchronize();
        EXPECT_EQ(phi, expected.potential);
        EXPECT_EQ(e, expected.field);
        plan.update(view(x, {n, 3}));
    }
}

// More points at one spot than a block takes at once, and two of them at one place.
TEST(PmeOnGpu, SumsCrowdsAndRefusesCoincidentPoints) {
    NEEDS_GPU();
    Bodies bodies(Cloud::cube, 3000, 0);
    for (std::size_t i = 0; i < 3000; ++i) bodies.sources[i] = 0.5 + 0.01 * bodies.sources[i];
    auto options = in_box({1.0, 1.0, 1.0}, 1e-8, DeviceKind::cpu);
    const auto exact = bodies.sum_with(options);
    options.tolerance = 1e-5;
    options.device.kind = DeviceKind::cuda;
    const auto got = bodies.sum_with(options);
    EXPECT_LT(relative_error(got.potential, exact.potential), 1e-5);
    EXPECT_LT(relative_error(got.field, exact.field), 1e-5);
    for (const auto& [a, b] : {std::pair{2000, 2500}, std::pair{700, 2900}})
        std::copy_n(bodies.sources.begin() + 3 * a, 3, bodies.sources.begin() + 3 * b);
    expect_contains(error_of<InvalidArgument>([&] { (void)bodies.sum_with(options); }),
                    {"700", "2900", "softening"});
    options.coincident = Coincident::skip;
    const auto skipped = bodies.sum_with(options);
    EXPECT_EQ(skipped.report.direct.coincident_pairs_skipped, 4);
    options.device.kind = DeviceKind::cpu;
    EXPECT_LT(relative_error(skipped.potential, bodies.sum_with(options).potential), 2e-5);
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

TEST(PmeOnGpu, RefusesSeveralGpusAndBadInput) {
    NEEDS_GPU();
    Bodies bodies(Cloud::cube, 10, 0);
    auto options = in_box({1.0, 1.0, 1.0}, 0.0, DeviceKind::cuda);
    options.device.gpus = {0, 1};
    expect_contains(error_of<InvalidArgument>([&] { (void)bodies.sum_with(options); }),
                    {"one GPU", "cuda:0"});
    options.device.gpus = {};
    bodies.q[3] += 1.0;
    expect_contains(error_of<InvalidArgument>([&] { (void)bodies.sum_with(options); }), {"sum to 1"});
    bodies.q[3] = std::nan("");
    expect_contains(error_of<InvalidArgument>([&] { (void)bodies.sum_with(options); }), {"strengths", "3"});
    bodies.sources[4] = std::nan("");
    expect_contains(error_of<InvalidArgument>([&] { (void)bodies.sum_with(options); }), {"sources", "1"});
}

} // namespace
} // namespace farfield
