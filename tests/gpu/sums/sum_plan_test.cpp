// SumPlan on a GPU, with arrays of the host: the same answers, checks and messages as on the CPU.
//
// Tolerances are those of the rungs (tests/gpu/direct): short sums of float have a relative error of 10 to 26
// u, u = 6e-8; of double 20 to 36 u, u = 1.1e-16. The reference adds N terms in a row, which costs √N u more.
#include "exact.h"
#include "gpu/needs_gpu.h"
#include "gpu/sizes.h"
#include "parity/sum_plan_cases.h"
#include "sums/direct/cuda/rungs.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace farfield {
namespace {

using gpu_test::Cloud;
using test::error_of;
using test::list;
using test::rows;
using test::Values;

const DeviceChoice on_gpu{.kind = DeviceKind::cuda};

SumResult reference(const Cloud& cloud, const Values* targets, Kernel kernel, double softening) {
    const SumOptions plain{.kernel = kernel, .method = Method::reference, .softening = softening};
    return targets == nullptr ? sum(rows(cloud.points), list(cloud.strengths), plain)
                              : sum(rows(cloud.points), rows(*targets), list(cloud.strengths), plain);
}

double relative_error(const Values& got, const Values& expected) {
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        difference += (got[i] - expected[i]) * (got[i] - expected[i]);
        norm += expected[i] * expected[i];
    }
    return std::sqrt(difference) / std::sqrt(norm);
}

double tolerance(Precision precision) { return precision == Precision::float64 ? 1e-14 : 2e-6; }

struct OnGpu {
    static std::string why_not() { return why_no_gpu(); }
    static DeviceChoice device() { return on_gpu; }
};
INSTANTIATE_TYPED_TEST_SUITE_P(OnGpu, SumPlanCases, OnGpu);

TEST(SumPlanOnGpu, AgreesWithTheReference) {
    NEEDS_GPU();
    for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed})
        for (const auto kernel : {Kernel::gravity, Kernel::coulomb})
            for (const std::size_t n : gpu_test::sizes_up_to(1000, {2, 33, 1000, 5003})) {
                SCOPED_TRACE(testing::Message() << name_of(precision) << ' ' << name_of(kernel) << ' ' << n);
                const auto cloud = gpu_test::plummer(n, n, precision == Precision::float32, true);
                const auto got =
                    sum(rows(cloud.points), list(cloud.strengths),
                        {.kernel = kernel, .softening = 0.02, .precision = precision, .device = on_gpu});
                const auto expected = reference(cloud, nullptr, kernel, 0.02);
                EXPECT_LE(relative_error(got.potential, expected.potential), tolerance(precision));
                EXPECT_LE(relative_error(got.field, expected.field), tolerance(precision));
                EXPECT_EQ(name_of(got.report.device), "cuda:0");
                EXPECT_EQ(got.report.direct.variant, Variant::symmetric);
                EXPECT_EQ(got.report.direct.pairs, static_cast<std::int64_t>(n * (n - 1)));
                EXPECT_GT(got.report.compute_seconds, 0.0);
            }
}

TEST(SumPlanOnGpu, TakesSeparateTargetsAndEachOutputAlone) {
    NEEDS_GPU();
    const auto cloud = gpu_test::plummer(700, 3, false);
    const auto targets = gpu_test::plummer(91, 4, false).points;
    const auto expected = reference(cloud, &targets, Kernel::gravity, 0.0);
    const SumOptions options{.device = on_gpu};
    const auto both = sum(rows(cloud.points), rows(targets), list(cloud.strengths), options);
    const auto potential =
        sum(rows(cloud.points), rows(targets), list(cloud.strengths), options, Output::potential);
    const auto field = sum(rows(cloud.points), rows(targets), list(cloud.strengths), options, Output::field);
    EXPECT_LE(relative_error(both.potential, expected.potential), 1e-14);
    EXPECT_LE(relative_error(both.field, expected.field), 1e-14);
    EXPECT_LE(relative_error(potential.potential, expected.potential), 1e-14);
    EXPECT_LE(relative_error(field.field, expected.field), 1e-14);
    EXPECT_TRUE(potential.field.empty() && field.potential.empty());
    EXPECT_EQ(both.report.direct.variant, Variant::register_tile);
}

TEST(SumPlanOnGpu, ComputesEveryRung) {
    NEEDS_GPU();
    const auto cloud = gpu_test::plummer(513, 6, true);
    const auto expected = reference(cloud, nullptr, Kernel::gravity, 0.01);
    for (const auto name : names_of<Variant>()) {
        const auto variant = *from_name<Variant>(name);
        const SumOptions options{
            .softening = 0.01, .precision = Precision::float32, .variant = variant, .device = on_gpu};
        if (variant == Variant::simd) {
            EXPECT_THROW(sum(rows(cloud.points), list(cloud.strengths), options), InvalidArgument);
            continue;
        }
        const auto rung = cuda::rung_from_name(name);
        const OutputSet wanted = rung && cuda::info_of(*rung).float_field ? OutputSet(Output::field)
                                                                          : Output::potential | Output::field;
        const auto got = sum(rows(cloud.points), list(cloud.strengths), options, wanted);
        EXPECT_LE(relative_error(got.field, expected.field), 2e-6) << name;
        EXPECT_EQ(got.report.direct.variant, variant == Variant::automatic ? Variant::symmetric : variant);
    }
}

// 1e20 metres, 1e-20 metres, and a cloud of extent 1 at 1e6, in steps of 1e-6 that a float has near 0 but not
// there: exactly the unit cloud, scaled by powers of two or shifted.
TEST(SumPlanOnGpu, KeepsDigitsFarOffAndAtAnyScale) {
    NEEDS_GPU();
    for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        auto cloud = gpu_test::plummer(600, 8, true);
        for (double& x : cloud.points) x = std::round(std::fmod(x, 1.0) * 0x1p20) * 0x1p-20;
        const auto base = reference(cloud, nullptr, Kernel::gravity, 0.125);
        const SumOptions options{.softening = 0.125, .precision = precision, .device = on_gpu};
        auto shifted = cloud;
        for (std::size_t i = 0; i < shifted.points.size(); ++i)
            shifted.points[i] += i % 3 == 1 ? 0x1p20 : 0.0;
        EXPECT_LE(relative_error(sum(rows(shifted.points), list(cloud.strengths), options).field, base.field),
                  tolerance(precision));
        for (const int exponent : {-70, 70, 300}) {
            auto scaled = cloud;
            for (double& x : scaled.points) x = std::ldexp(x, exponent);
            for (double& q : scaled.strengths) q = std::ldexp(q, 100);
            auto scaled_options = options;
            scaled_options.softening = std::ldexp(0.125, exponent);
            auto got = sum(rows(scaled.points), list(scaled.strengths), scaled_options);
            for (double& e : got.field) e = std::ldexp(e, 2 * exponent - 100);
            EXPECT_LE(relative_error(got.field, base.field), tolerance(precision)) << exponent;
        }
    }
}

TEST(SumPlanOnGpu, UpdatesAndRepeatsItsBits) {
    NEEDS_GPU();
    const std::size_t n = gpu_test::sized(9001, 2001);
    const auto cloud = gpu_test::plummer(n, 1, false), moved = gpu_test::plummer(n, 2, false);
    const SumOptions options{.device = on_gpu};
    SumPlan plan(rows(cloud.points), options);
    Values once(n), again(n);
    plan.execute(list(cloud.strengths), {.potential = std::span<double>(once)});
    plan.update(rows(moved.points));
    plan.execute(list(moved.strengths), {.potential = std::span<double>(again)});
    EXPECT_EQ(again, sum(rows(moved.points), list(moved.strengths), options, Output::potential).potential);
    plan.update(rows(cloud.points));
    plan.execute(list(cloud.strengths), {.potential = std::span<double>(again)});
    EXPECT_EQ(once, again);
    EXPECT_THROW(plan.update(rows(Values{0, 0, 0})), InvalidArgument);
}

TEST(SumPlanOnGpu, AutoComputesWhereItSays) {
    NEEDS_GPU();
    NEEDS_LARGE();
    const auto tiny = gpu_test::plummer(100, 1, false), large = gpu_test::plummer(150000, 1, true);
    EXPECT_EQ(sum(rows(tiny.points), list(tiny.strengths)).report.device.kind, DeviceKind::cpu);
    // float, 2.3e10 pairs: seconds on a CPU of few cores, ten milliseconds on the GPU
    const auto report =
        sum(rows(large.points), list(large.strengths), {.precision = Precision::float32, .threads = 1})
            .report;
    EXPECT_EQ(name_of(report.device), "cuda:0");
}

// One GPU named several times plays several: the bits are those of one, with either design.
TEST(SumPlanOnSeveralGpus, GivesTheBitsOfOne) {
    NEEDS_GPU();
    const std::size_t n = gpu_test::sized(5003, 503);
    const auto cloud = gpu_test::plummer(n, 3, false);
    for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        const auto one =
            sum(rows(cloud.points), list(cloud.strengths), {.precision = precision, .device = on_gpu});
        for (const auto multi_gpu : {MultiGpu::threads, MultiGpu::single}) {
            const SumOptions options{.precision = precision,
                                     .device = {.kind = DeviceKind::cuda, .gpus = {0, 0, 0}},
                                     .multi_gpu = multi_gpu};
            SumPlan plan(rows(cloud.points), options);
            Values potential(n), field(3 * n);
            for (int repeat = 0; repeat < 2; ++repeat) {
                plan.execute(list(cloud.strengths), {.potential = std::span<double>(potential),
                                                     .field = matrix_view(std::span<double>(field), 3)});
                EXPECT_EQ(potential, one.potential);
                EXPECT_EQ(field, one.field);
            }
            EXPECT_EQ(name_of(plan.report().device), "cuda:0,0,0");
            plan.execute(list(cloud.strengths), {.field = matrix_view(std::span<double>(field), 3)});
            EXPECT_LE(relative_error(field, one.field), precision == Precision::float64 ? 1e-14 : 1e-6);
        }
    }
}

TEST(SumPlanOnSeveralGpus, RepairsAndRefusesAsOneDoes) {
    NEEDS_GPU();
    const DeviceChoice two{.kind = DeviceKind::cuda, .gpus = {0, 0}};
    const Values twins{0, 0, 0, 1, 1, 1, 2, 0, 0, 1, 1, 1}, q{1, 2, 3, 4}, none;
    EXPECT_EQ(error_of<InvalidArgument>([&] { sum(rows(twins), list(q), {.device = two}); }),
              error_of<InvalidArgument>([&] { sum(rows(twins), list(q), {.device = on_gpu}); }));
    const auto skipped = sum(rows(twins), list(q), {.coincident = Coincident::skip, .device = two});
    EXPECT_EQ(skipped.report.direct.coincident_pairs_skipped, 2);
    EXPECT_NEAR(skipped.potential[1], -4.0 / std::sqrt(3.0), 1e-14);
    EXPECT_TRUE(sum(rows(none), list(none), {.device = two}).field.empty());
    EXPECT_THROW(sum(rows(twins), rows(twins), list(q), {.device = two}), InvalidArgument);
    EXPECT_THROW(sum(rows(twins), list(q), {.variant = Variant::flush, .device = two}), InvalidArgument);
    const DeviceChoice lost{.kind = DeviceKind::cuda, .gpus = {0, 99}};
    EXPECT_THROW(sum(rows(twins), list(q), {.device = lost}), BackendUnavailable);
}

TEST(SumPlanOnGpu, NamesAGpuThatIsNotThere) {
    NEEDS_GPU();
    const Values points{0, 0, 0, 1, 0, 0}, q{1, 1};
    EXPECT_THROW(sum(rows(points), list(q), {.device = {.kind = DeviceKind::cuda, .gpus = {99}}}),
                 BackendUnavailable);
}

} // namespace
} // namespace farfield
