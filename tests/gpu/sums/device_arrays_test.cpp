// SumPlan over arrays that lie on the GPU, read and written in place, and the caller's streams.
#include "exact.h"
#include "expect_error.h"
#include "gpu/needs_gpu.h"
#include "gpu/sums/gpu_arrays.h"
#include "unit/sums/views.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace farfield {
namespace {

using cuda::DeviceArray;
using test::gpu_view;
using test::list;
using test::rows;
using test::to_gpu;
using test::to_host;
using test::Values;

constexpr Device gpu_0{DeviceType::cuda, 0};
const DeviceChoice on_gpu{.kind = DeviceKind::cuda};

// The same kernels on the same numbers: the bits are those of host arrays.
TEST(DeviceArrays, GiveTheBitsOfHostArrays) {
    NEEDS_GPU();
    const std::int64_t n = 3001;
    const auto cloud = gpu_test::plummer(static_cast<std::size_t>(n), 1, false);
    for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        const auto expected =
            sum(rows(cloud.points), list(cloud.strengths), {.precision = precision, .device = on_gpu});
        auto points = to_gpu(cloud.points), strengths = to_gpu(cloud.strengths);
        DeviceArray<double> potential(static_cast<std::size_t>(n)), field(static_cast<std::size_t>(3 * n));
        SumPlan plan(gpu_view(points, {n, 3}), {.precision = precision}); // auto: where the points are
        plan.execute(gpu_view(strengths, {n}),
                     {.potential = gpu_view(potential, {n}), .field = gpu_view(field, {n, 3})});
        EXPECT_EQ(to_host(potential), expected.potential);
        EXPECT_EQ(to_host(field), expected.field);
        EXPECT_EQ(name_of(plan.report().device), "cuda:0");
    }
}

// Columns one after the other, backwards strengths, floats; results into every second element.
TEST(DeviceArrays, TakeAnyStridesAndTypes) {
    NEEDS_GPU();
    auto columns = to_gpu(std::vector<float>{0, 1, 0, 0, 0, 2, 0, 0, 0});
    auto reversed = to_gpu(std::vector<float>{3, 2, 1});
    auto out = to_gpu(std::vector<float>(6, -7.0F));
    auto field_columns = to_gpu(Values(9, -7.0));
    auto points = gpu_view(columns, {3, 3});
    points.strides = {1, 3};
    ConstArrayView q(reversed.data() + 2, DType::float32, {3}, gpu_0);
    q.strides = {-1, 0};
    auto potential = ArrayView(out.data(), DType::float32, {3}, gpu_0);
    potential.strides = {2, 0};
    auto field = gpu_view(field_columns, {3, 3});
    field.strides = {1, 3};
    SumPlan(points).execute(q, {.potential = potential, .field = field});
    const Values same{0, 0, 0, 1, 0, 0, 0, 2, 0}, strengths{1, 2, 3};
    const auto expected = sum(rows(same), list(strengths), {.device = {.kind = DeviceKind::cpu}});
    const auto got = to_host(out);
    const auto got_field = to_host(field_columns);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(got[2 * i], expected.potential[i], 1e-6);
        EXPECT_EQ(got[2 * i + 1], -7.0F);
        for (std::size_t k = 0; k < 3; ++k)
            EXPECT_NEAR(got_field[3 * k + i], expected.field[3 * i + k], 1e-15);
    }
}

// What is compared are the points as they were given, in whatever strides, not what their array holds later.
TEST(DeviceArrays, MayChangeBeforeTheirSumIsCompared) {
    NEEDS_GPU();
    const std::int64_t n = 2000;
    const auto first = gpu_test::plummer(static_cast<std::size_t>(n), 1, false);
    const auto second = gpu_test::plummer(static_cast<std::size_t>(n), 2, false);
    const auto columns = [&](const Values& points) {
        Values out;
        for (std::size_t k = 0; k < 3; ++k)
            for (std::size_t i = 0; i < points.size(); i += 3) out.push_back(points[i + k]);
        return out;
    };
    auto points = to_gpu(columns(first.points)), strengths = to_gpu(first.strengths);
    auto there = gpu_view(points, {n, 3});
    there.strides = {1, n};
    const auto hold = [&](const Values& values) {
        cuda::copy(points.data(), values.data(), values.size(), cudaStreamLegacy);
        cuda::check(cudaDeviceSynchronize(), "waiting for the GPU");
    };
    DeviceArray<double> potential(static_cast<std::size_t>(n)), field(static_cast<std::size_t>(3 * n));
    SumPlan plan(there, {.tolerance = 1e-12, .precision = Precision::float64});
    const Values ones(points.size(), 1.0);
    hold(ones);
    plan.execute(gpu_view(strengths, {n}), {.potential = gpu_view(potential, {n})});
    ASSERT_EQ(plan.report().errors.size(), 1U);
    EXPECT_LE(plan.report().errors[0].relative, 1e-12);
    hold(columns(second.points));
    plan.update(there);
    hold(ones);
    plan.execute(gpu_view(strengths, {n}), {.field = gpu_view(field, {n, 3})});
    ASSERT_EQ(plan.report().errors.size(), 2U);
    EXPECT_LE(plan.report().errors[1].relative, 1e-12);
}

TEST(DeviceArrays, MixWithHostArrays) {
    NEEDS_GPU();
    const auto cloud = gpu_test::plummer(500, 4, false), others = gpu_test::plummer(77, 5, false);
    const auto expected =
        sum(rows(cloud.points), rows(others.points), list(cloud.strengths), {.device = on_gpu});
    auto points = to_gpu(cloud.points), strengths = to_gpu(cloud.strengths), targets = to_gpu(others.points);
    Values potential(77);
    DeviceArray<double> field(231);
    SumPlan(gpu_view(points, {500, 3}), rows(others.points))
        .execute(list(cloud.strengths),
                 {.potential = std::span<double>(potential), .field = gpu_view(field, {77, 3})});
    EXPECT_EQ(potential, expected.potential);
    EXPECT_EQ(to_host(field), expected.field);
    const auto again = sum(rows(cloud.points), gpu_view(targets, {77, 3}), gpu_view(strengths, {500}));
    EXPECT_EQ(again.field, expected.field);
    EXPECT_EQ(name_of(again.report.device), "cuda:0");
}

TEST(DeviceArrays, NameTheRowAndTheDevice) {
    NEEDS_GPU();
    auto cloud = gpu_test::plummer(1000, 4, false);
    cloud.points[3 * 321 + 2] = std::nan("");
    auto points = to_gpu(cloud.points), strengths = to_gpu(cloud.strengths);
    using test::error_of, test::expect_contains;
    expect_contains(error_of<InvalidArgument>([&] {
                        SumPlan(gpu_view(points, {1000, 3}));
                    }),
                    {"row 321 has z = nan"});
    expect_contains(error_of<InvalidArgument>([&] {
                        SumPlan(gpu_view(points, {1000, 3}), {.device = {.kind = DeviceKind::cpu}});
                    }),
                    {"device = cpu"});
    // memory said to be on another GPU than the sum's is refused before it is touched
    const auto healthy = gpu_test::plummer(1000, 4, false);
    SumPlan plan(rows(healthy.points), {.device = on_gpu});
    auto elsewhere = gpu_view(strengths, {1000});
    elsewhere.device.index = 1;
    Values out(1000);
    expect_contains(
        error_of<InvalidArgument>([&] { plan.execute(elsewhere, {.potential = std::span<double>(out)}); }),
        {"strengths: the array is on cuda:1, but the sum runs on cuda:0"});
}

// A copy that takes milliseconds fills the points on the caller's stream; the plan, on the same stream, must
// wait.
TEST(DeviceArrays, AreReadInTheOrderOfTheCallersStream) {
    NEEDS_GPU();
    const std::size_t n = 1000, large = std::size_t{1} << 28; // 2 GiB
    const auto cloud = gpu_test::plummer(n, 7, false);
    const auto expected = sum(rows(cloud.points), list(cloud.strengths), {.device = on_gpu}).potential;
    auto source = to_gpu(cloud.points), strengths = to_gpu(cloud.strengths);
    auto points = to_gpu(Values(3 * n, 0.0));
    DeviceArray<double> from(large), to(large), potential(n);
    cuda::check(cudaMemset(from.data(), 0, from.bytes()), "clearing"); // copied below, which takes its time
    for (const bool own_stream : {true, false}) {
        const cuda::Stream stream;
        cudaStream_t used = own_stream ? stream.get() : nullptr; // null: CUDA's default stream
        cuda::check(cudaMemsetAsync(points.data(), 0, points.bytes(), used), "clearing");
        cuda::copy(to.data(), from.data(), large, used);
        cuda::copy(points.data(), source.data(), 3 * n, used);
        SumPlan plan(gpu_view(points, {1000, 3}), {.coincident = Coincident::skip, .stream = used});
        plan.execute(gpu_view(strengths, {1000}), {.potential = gpu_view(potential, {1000})});
        EXPECT_EQ(to_host(potential), expected);
    }
}

TEST(DeviceErrors, FullMemoryNamesBytesAndRemedy) {
    NEEDS_GPU();
    try {
        const DeviceArray<double> too_large(std::size_t{1} << 45); // 256 TiB
        FAIL() << "256 TiB were allocated";
    } catch (const DeviceError& error) {
        const std::string text = error.what();
        for (const auto* word : {"256.00 TiB", "are free", "fewer points"})
            EXPECT_NE(text.find(word), std::string::npos) << text;
    }
    // and the GPU can still be used
    const Values points{0, 0, 0, 1, 0, 0}, q{1, 1};
    EXPECT_EQ(sum(rows(points), list(q), {.device = on_gpu}).potential, (Values{-1, -1}));
}

} // namespace
} // namespace farfield
