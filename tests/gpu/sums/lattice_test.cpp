// What Ewald's method and particle-mesh Ewald have alike on a GPU: arrays of their own, streams, crowds of
// points, refusals. Their own tests have the rest.
#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "gpu/sums/box_bodies.h"

#include <farfield/error.h>
#include <farfield/options.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace farfield {
namespace {

using test::Bodies;
using test::Cloud;
using test::error_of;
using test::expect_contains;
using test::relative_error;
using test::Values;

SumOptions in_box(Method method, double tolerance, DeviceKind device) {
    return {.kernel = Kernel::coulomb,
            .method = method,
            .period = {1.0, 1.0, 1.0},
            .tolerance = tolerance,
            .device = {.kind = device}};
}

class LatticeOnGpu : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, LatticeOnGpu, testing::Values(Method::ewald, Method::pme),
                         [](const auto& method) { return std::string(name_of(method.param)); });

// Arrays of the GPU are read and written where they lie, on the caller's stream.
TEST_P(LatticeOnGpu, TakesArraysOfTheGpu) {
    NEEDS_GPU();
    const Bodies bodies(Cloud::cube, 4000, 0);
    auto options = in_box(GetParam(), 0.0, DeviceKind::cuda);
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
TEST_P(LatticeOnGpu, SumsCrowdsAndRefusesCoincidentPoints) {
    NEEDS_GPU();
    Bodies bodies(Cloud::cube, 3000, 0);
    for (std::size_t i = 0; i < 3000; ++i) bodies.sources[i] = 0.5 + 0.01 * bodies.sources[i];
    auto options = in_box(GetParam(), 1e-8, DeviceKind::cpu);
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

TEST_P(LatticeOnGpu, RefusesSeveralGpusAndBadInput) {
    NEEDS_GPU();
    Bodies bodies(Cloud::cube, 10, 0);
    auto options = in_box(GetParam(), 0.0, DeviceKind::cuda);
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
