// The rungs of the direct sum on a GPU against the long double oracle, and against themselves. Without a GPU
// the tests that need one are skipped, which ctest shows.
//
// Tolerances: a float sum has relative error ≤ c·u per term, u = 6e-8, plus the random walk of its
// accumulator, √n·u for a long one (the tutorial rungs) and √256·u where sums are kept short; 4 operations a
// term give c ≈ 10. Double likewise with u = 1.1e-16, and c ≈ 20 for the two-term series of 1/√x.
#include "backend/cuda/devices.h"
#include "exact.h"
#include "gpu/needs_gpu.h"
#include "gpu/sizes.h"
#include "sums/direct/cuda/device_sum.h"
#include "sums/direct/cuda/rung_resources.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace farfield::cuda {

void PrintTo(const RungInfo& info, std::ostream* out) { *out << info.name; } // the name GoogleTest looks for

namespace {

using gpu_test::Cloud;

struct Result {
    std::vector<double> potential, field;
};

Result compute(const Cloud& cloud, const DeviceSumOptions& options,
               const std::vector<double>* targets = nullptr) {
    DeviceSum sum(options);
    if (targets != nullptr)
        sum.set_points(cloud.points, cloud.strengths, *targets);
    else
        sum.set_points(cloud.points, cloud.strengths);
    sum.run();
    const std::size_t m = targets != nullptr ? targets->size() / 3 : cloud.strengths.size();
    const double poison = std::nan("");
    Result result{std::vector<double>(m, poison), std::vector<double>(3 * m, poison)};
    sum.fetch(options.potential ? std::span(result.potential) : std::span<double>{},
              options.field ? std::span(result.field) : std::span<double>{});
    return result;
}

double tolerance(Precision precision, Rung rung, std::size_t n) {
    const bool short_sums = rung >= Rung::register_tile;
    const double walk = std::sqrt(static_cast<double>(short_sums ? std::min<std::size_t>(n, 256) : n));
    return precision == Precision::float64 ? 1.1e-16 * (20 + walk) : 6e-8 * (10 + walk);
}

void expect_right(const Cloud& cloud, const DeviceSumOptions& options,
                  const std::vector<double>* targets = nullptr) {
    const std::size_t n = cloud.strengths.size();
    const bool self = targets == nullptr;
    const auto& at = self ? cloud.points : *targets;
    const auto rows = gpu_test::sample_rows(at.size() / 3, 512);
    const auto exact = gpu_test::exact_rows(cloud, at, self, options.softening, rows);
    const auto got = compute(cloud, options, targets);
    const double sign = options.kernel == Kernel::gravity ? -1.0 : 1.0;
    const double allowed = tolerance(options.precision, options.rung, n);
    if (n == 1 && self) { // nothing acts on it: exactly zero
        for (double value : got.potential) EXPECT_TRUE(value == 0.0 || !options.potential);
        for (double value : got.field) EXPECT_TRUE(value == 0.0 || !options.field);
        return;
    }
    if (options.potential) {
        EXPECT_LE(gpu_test::relative_error(got.potential, exact.potential, rows, 1, sign), allowed);
    }
    if (options.field) {
        EXPECT_LE(gpu_test::relative_error(got.field, exact.field, rows, 3, sign), allowed);
    }
}

std::string test_name(const RungInfo& info) {
    std::string name(info.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class EveryRung : public testing::TestWithParam<RungInfo> {
protected:
    static bool computes(Precision precision) {
        return precision == Precision::float32 ||
               (!GetParam().float_field && (precision == Precision::float64 || GetParam().mixed));
    }
};

TEST_P(EveryRung, AgreesWithTheOracleForAnyN) {
    NEEDS_GPU();
    for (const Precision precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        if (!computes(precision)) continue;
        for (std::size_t n :
             gpu_test::sizes_up_to(1000, {1, 2, 31, 32, 33, 255, 256, 257, 1000, 2049, 4097, 10007})) {
            if (GetParam().rung == Rung::one_thread && n > gpu_test::sized<std::size_t>(1000, 33)) continue;
            for (const double softening : {0.0, 0.01}) {
                SCOPED_TRACE(testing::Message() << "n=" << n << " softening=" << softening
                                                << " precision=" << name_of(precision) << " seed=" << n);
                const auto cloud = gpu_test::plummer(n, n, precision != Precision::float64);
                expect_right(cloud, {.rung = GetParam().rung,
                                     .precision = precision,
                                     .softening = softening,
                                     .potential = !GetParam().float_field});
            }
        }
    }
}

// With softening and without the potential, rungs may leave the self test out.
TEST_P(EveryRung, SumsTheFieldAloneWithSoftening) {
    NEEDS_GPU();
    for (const Precision precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        if (!computes(precision)) continue;
        for (std::size_t n : gpu_test::sizes_up_to(1000, {1, 33, 256, 257, 1000, 4097})) {
            if (GetParam().rung == Rung::one_thread && n > gpu_test::sized<std::size_t>(1000, 33)) continue;
            for (const double softening : {1e-12, 0.01}) { // 1e-12: 1/ε³ is no float
                SCOPED_TRACE(testing::Message() << "n=" << n << " softening=" << softening
                                                << " precision=" << name_of(precision) << " seed=" << n + 1);
                const auto cloud = gpu_test::plummer(n, n + 1, precision != Precision::float64);
                expect_right(cloud, {.rung = GetParam().rung,
                                     .precision = precision,
                                     .softening = softening,
                                     .potential = false});
            }
        }
    }
}

// What a rung keeps in constant memory follows the sum: of two that take turns each gets its own.
TEST_P(EveryRung, TakesTurnsWithAnotherSum) {
    NEEDS_GPU();
    if (!GetParam().deterministic) GTEST_SKIP() << "float atomics: exempt";
    const auto first = gpu_test::plummer(300, 1, true), second = gpu_test::plummer(500, 2, true);
    const DeviceSumOptions options{
        .rung = GetParam().rung, .precision = Precision::float32, .softening = 0.01, .potential = false};
    const auto of_first = compute(first, options).field, of_second = compute(second, options).field;
    DeviceSum a(options), b(options);
    a.set_points(first.points, first.strengths);
    b.set_points(second.points, second.strengths);
    std::vector<double> field_a(of_first.size()), field_b(of_second.size());
    for (int turn = 0; turn < 2; ++turn) {
        a.run();
        b.run();
    }
    a.run();
    a.fetch({}, field_a);
    b.fetch({}, field_b);
    EXPECT_EQ(field_a, of_first);
    EXPECT_EQ(field_b, of_second);
}

TEST_P(EveryRung, GivesEachOutputAlone) {
    NEEDS_GPU();
    const std::size_t n = GetParam().rung == Rung::one_thread ? gpu_test::sized(777, 77) : 777;
    const auto cloud = gpu_test::plummer(n, 5, true, true);
    for (const Precision precision : {Precision::float32, Precision::float64}) {
        if (!computes(precision)) continue;
        DeviceSumOptions options{.rung = GetParam().rung, .kernel = Kernel::coulomb, .precision = precision};
        options.field = false;
        // charges of both signs cancel in part: twice the tolerance of gravity holds for these
        const auto rows = gpu_test::sample_rows(n, n);
        const auto exact = gpu_test::exact_rows(cloud, cloud.points, true, 0.0, rows);
        const double allowed = 4 * tolerance(precision, GetParam().rung, n);
        if (GetParam().float_field)
            EXPECT_THROW(compute(cloud, options), InvalidArgument);
        else
            EXPECT_LE(
                gpu_test::relative_error(compute(cloud, options).potential, exact.potential, rows, 1, 1.0),
                allowed);
        options.field = true, options.potential = false;
        EXPECT_LE(gpu_test::relative_error(compute(cloud, options).field, exact.field, rows, 3, 1.0),
                  allowed);
    }
}

TEST_P(EveryRung, RepeatsItsBits) {
    NEEDS_GPU();
    if (!GetParam().deterministic) GTEST_SKIP() << "float atomics: exempt";
    const std::size_t n =
        GetParam().rung == Rung::one_thread ? gpu_test::sized(500, 50) : gpu_test::sized(20011, 2011);
    for (const Precision precision : {Precision::float32, Precision::float64}) {
        if (!computes(precision)) continue;
        const auto cloud = gpu_test::plummer(n, 9, true);
        const DeviceSumOptions options{
            .rung = GetParam().rung, .precision = precision, .potential = !GetParam().float_field};
        const auto once = compute(cloud, options), again = compute(cloud, options);
        EXPECT_EQ(once.field, again.field);
        if (options.potential) {
            EXPECT_EQ(once.potential, again.potential);
        }
    }
}

// CUDA counts the blocks of each kernel as the formula of the report does, which is tested without a GPU.
TEST_P(EveryRung, FillsAMultiprocessorAsTheFormulaSays) {
    NEEDS_GPU();
    const auto limits = multiprocessor_limits();
    for (const Precision precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        if (!computes(precision)) {
            EXPECT_THROW(rung_resources(GetParam().rung, precision), InvalidArgument);
            continue;
        }
        SCOPED_TRACE(name_of(precision));
        const auto kernel = rung_resources(GetParam().rung, precision);
        EXPECT_GT(kernel.registers, 0);
        EXPECT_EQ(kernel.blocks, blocks_that_fit(kernel, limits).all());
        EXPECT_GT(occupancy(kernel, limits), 0.0);
        EXPECT_LE(occupancy(kernel, limits), 1.0);
    }
}

INSTANTIATE_TEST_SUITE_P(Ladder, EveryRung, testing::ValuesIn(rungs().begin(), rungs().end()),
                         [](const auto& parameter) { return test_name(parameter.param); });

// Two bodies whose masses are denormal floats: they count unless the object was compiled to flush them.
TEST(Flush, CountsDenormalsAsZero) {
    NEEDS_GPU();
    const Cloud cloud{.points = {0, 0, 0, 1, 0, 0}, .strengths = {1e-40, 1e-40}};
    const auto field = [&](Rung rung) {
        return std::abs(
            compute(cloud, {.rung = rung, .precision = Precision::float32, .potential = false}).field[0]);
    };
    EXPECT_NEAR(field(Rung::unrolled_128), 1e-40, 1e-44);
    EXPECT_EQ(field(Rung::flush), 0.0);
    EXPECT_EQ(field(Rung::fast_math), 0.0);
}

TEST(RegisterTile, TakesSeparateTargets) {
    NEEDS_GPU();
    for (const Precision precision : {Precision::float32, Precision::float64, Precision::mixed})
        for (const auto& [n, m] :
             {std::pair<std::size_t, std::size_t>{1, 1}, {3000, 17}, {129, 5001}, {40000, 513}}) {
            SCOPED_TRACE(testing::Message() << "n=" << n << " m=" << m);
            const auto cloud = gpu_test::plummer(n, 3, precision != Precision::float64);
            const auto targets = gpu_test::plummer(m, 4, precision != Precision::float64).points;
            expect_right(cloud, {.rung = Rung::register_tile, .precision = precision, .softening = 0.05},
                         &targets);
        }
}

TEST(RegisterTile, GivesZeroWithoutSources) {
    NEEDS_GPU();
    const std::vector<double> targets{1, 2, 3};
    const auto got = compute({}, {.rung = Rung::register_tile}, &targets);
    EXPECT_EQ(got.potential, std::vector<double>{0.0});
    EXPECT_EQ(got.field, (std::vector<double>{0.0, 0.0, 0.0}));
}

// Large enough for every shape of the kernel, an even and an odd number of tiles, and a last tile with few
// points.
TEST(Symmetric, IsRightForBothShapesAndManyTiles) {
    NEEDS_GPU();
    for (const Precision precision : {Precision::float32, Precision::float64, Precision::mixed})
        for (std::size_t n :
             gpu_test::sized<std::vector<std::size_t>>({40960, 43013, 65536, 67585, 100003}, {49153})) {
            SCOPED_TRACE(testing::Message() << "n=" << n << " precision=" << name_of(precision));
            const auto cloud = gpu_test::plummer(n, n, precision != Precision::float64);
            expect_right(cloud, {.rung = Rung::symmetric, .precision = precision, .softening = 1e-3});
        }
}

// One GiB of partial sums is 1.3 million float bodies in tiles of 2048: 1.5 million run in several slabs.
TEST(Symmetric, IsRightInSeveralSlabs) {
    NEEDS_GPU();
    NEEDS_LARGE();
    const std::size_t n = 1500001;
    const auto cloud = gpu_test::plummer(n, 1, true);
    const DeviceSumOptions options{
        .rung = Rung::symmetric, .precision = Precision::float32, .softening = 1e-2};
    const auto rows = gpu_test::sample_rows(n, 32);
    const auto exact = gpu_test::exact_rows(cloud, cloud.points, true, options.softening, rows);
    const auto got = compute(cloud, options);
    EXPECT_LE(gpu_test::relative_error(got.field, exact.field, rows, 3, -1.0), 1e-6);
    EXPECT_LE(gpu_test::relative_error(got.potential, exact.potential, rows, 1, -1.0), 1e-6);
}

// With equal and opposite shares the forces sum to zero but for rounding, which a lost or doubled pair would
// not.
TEST(Symmetric, ConservesMomentum) {
    NEEDS_GPU();
    const auto cloud = gpu_test::plummer(30000, 8, false);
    const auto got = compute(cloud, {.rung = Rung::symmetric, .softening = 1e-3});
    double sum[3] = {0, 0, 0}, size = 0;
    for (std::size_t i = 0; i < 30000; ++i)
        for (std::size_t a = 0; a < 3; ++a) {
            sum[a] += cloud.strengths[i] * got.field[3 * i + a];
            size += std::abs(cloud.strengths[i] * got.field[3 * i + a]);
        }
    for (double component : sum) EXPECT_LE(std::abs(component), 1e-14 * size);
}

TEST(DeviceSum, SaysWhatItDoesNotTake) {
    NEEDS_GPU();
    EXPECT_THROW(DeviceSum({.rung = Rung::flush, .precision = Precision::mixed}), InvalidArgument);
    EXPECT_THROW(DeviceSum({.rung = Rung::tensor, .precision = Precision::float64}), InvalidArgument);
    EXPECT_THROW(DeviceSum({.device = 99}), BackendUnavailable);
    DeviceSum sum({.rung = Rung::symmetric});
    const std::vector<double> point{0, 0, 0}, one{1};
    EXPECT_THROW(sum.set_points(point, one, point), InvalidArgument);
}

TEST(DeviceSum, WithoutGpuSaysWhy) {
    if (!devices().empty()) GTEST_SKIP() << "this machine has a GPU";
    try {
        DeviceSum sum({});
        FAIL() << "a sum without a GPU";
    } catch (const BackendUnavailable& error) {
        EXPECT_EQ(error.what(), why_no_device());
        EXPECT_FALSE(why_no_device().empty());
    }
}

} // namespace
} // namespace farfield::cuda
