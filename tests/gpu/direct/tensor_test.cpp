// The sum on tensor cores where it differs from its neighbours: many tiles far from each other, several
// slabs, sizes of tiles and of strengths that differ by many powers of two. Oracle: long double.
//
// Tolerance: a far pair's r² carries some roundings of 2⁻²⁴ times (farthest/nearest)² ≤ 32 of its tiles, most
// pairs a few of 2⁻²⁴; products round toward zero over at most 8 terms, a drift of about 4·2⁻²⁴. Measured
// 1e-7 to 3e-7; 6e-7 leaves room for clouds of other shapes.
#include "exact.h"
#include "gpu/needs_gpu.h"
#include "gpu/sizes.h"
#include "sums/direct/cuda/device_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

namespace farfield::cuda {
namespace {

using gpu_test::Cloud;

constexpr double allowed = 6e-7;

std::vector<double> field_of(const Cloud& cloud, double softening) {
    DeviceSum sum(
        {.rung = Rung::tensor, .precision = Precision::float32, .softening = softening, .potential = false});
    sum.set_points(cloud.points, cloud.strengths);
    sum.run();
    std::vector<double> field(cloud.points.size(), std::nan(""));
    sum.fetch({}, field);
    return field;
}

double error_of(const Cloud& cloud, double softening, std::size_t rows_wanted) {
    const auto rows = gpu_test::sample_rows(cloud.strengths.size(), rows_wanted);
    const auto exact = gpu_test::exact_rows(cloud, cloud.points, true, softening, rows);
    return gpu_test::relative_error(field_of(cloud, softening), exact.field, rows, 3, -1.0);
}

TEST(Tensor, IsRightForManyTiles) {
    NEEDS_GPU();
    // 80, 81 and 131 tiles: rings of even and odd length; the last tile full, nearly empty, in between
    for (const std::size_t n : gpu_test::sized<std::vector<std::size_t>>({40960, 40961, 67000}, {40961}))
        for (const double softening : {0.0, 0.01, 3.0})
            EXPECT_LE(error_of(gpu_test::plummer(n, n, true), softening, 512), allowed)
                << "n=" << n << " softening=" << softening;
}

// 1,172 slots of 9.6 MB do not fit into the workspace's 4 GiB.
TEST(Tensor, IsRightInSeveralSlabs) {
    NEEDS_GPU();
    NEEDS_LARGE();
    EXPECT_LE(error_of(gpu_test::plummer(600011, 3, true), 0.01, 64), allowed);
}

TEST(Tensor, DoesNotMindTheOrderOfItsInput) {
    NEEDS_GPU();
    const std::size_t n = 30000;
    const auto cloud = gpu_test::plummer(n, 4, true);
    Cloud reversed;
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t a = 0; a < 3; ++a) reversed.points.push_back(cloud.points[3 * i + a]);
        reversed.strengths.push_back(cloud.strengths[i]);
    }
    const auto field = field_of(cloud, 0.01), other = field_of(reversed, 0.01);
    for (std::size_t i = 0; i < n; ++i) // no two bodies in one cell of the curve: the same bits
        for (std::size_t a = 0; a < 3; ++a)
            ASSERT_EQ(field[3 * i + a], other[3 * (n - 1 - i) + a]) << "body " << i;
}

// Two clouds far apart, one of them a millionth of the other in size: their tiles have scales of their own.
TEST(Tensor, KeepsDigitsBetweenLargeAndSmallTiles) {
    NEEDS_GPU();
    auto cloud = gpu_test::plummer(20000, 5, true);
    const auto small = gpu_test::plummer(20000, 6, true);
    for (std::size_t i = 0; i < 20000; ++i) {
        for (std::size_t a = 0; a < 3; ++a)
            cloud.points.push_back(
                static_cast<float>(60.0 * static_cast<double>(a + 1) + 0x1p-20 * small.points[3 * i + a]));
        cloud.strengths.push_back(small.strengths[i]);
    }
    EXPECT_LE(error_of(cloud, 0.001, 512), allowed);
}

// Random charges cancel: the error is measured against what the same strengths, all positive, would give.
TEST(Tensor, TakesChargesOfBothSigns) {
    NEEDS_GPU();
    const auto charges = gpu_test::plummer(50000, 7, true, true);
    auto masses = charges;
    for (double& q : masses.strengths) q = std::abs(q);
    const auto rows = gpu_test::sample_rows(50000, 512);
    const auto exact = gpu_test::exact_rows(charges, charges.points, true, 0.05, rows);
    const auto sizes = gpu_test::exact_rows(masses, masses.points, true, 0.05, rows);
    const auto got = field_of(charges, 0.05);
    double error = 0, size = 0;
    for (std::size_t k = 0; k < rows.size(); ++k)
        for (std::size_t a = 0; a < 3; ++a) {
            error += std::pow(got[3 * rows[k] + a] + exact.field[3 * k + a], 2);
            size += std::pow(sizes.field[3 * k + a], 2);
        }
    EXPECT_LE(std::sqrt(error / size), allowed);
}

// A single far pair that counts: no error may hide behind the mean of many. Row by row, with 32 · 4 · 2⁻²⁵
// of r², times 3/2, for the nearest tiles that are far.
TEST(Tensor, IsRightWhereOneBodyOutweighsAll) {
    NEEDS_GPU();
    constexpr std::size_t heavy = 123;
    auto cloud = gpu_test::plummer(40000, 8, true);
    cloud.strengths[heavy] = 0x1p40;
    const auto rows = gpu_test::sample_rows(40000, 2000);
    const auto exact = gpu_test::exact_rows(cloud, cloud.points, true, 0.01, rows);
    const auto got = field_of(cloud, 0.01);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        if (rows[k] == heavy) continue;
        double error = 0, size = 0;
        for (std::size_t a = 0; a < 3; ++a) {
            error += std::pow(got[3 * rows[k] + a] + exact.field[3 * k + a], 2);
            size += std::pow(exact.field[3 * k + a], 2);
        }
        EXPECT_LE(std::sqrt(error / size), 6e-6) << "body " << rows[k];
    }
}

// Other units, by powers of two: the same bits.
TEST(Tensor, KeepsDigitsAtAnyScale) {
    NEEDS_GPU();
    const auto cloud = gpu_test::plummer(20000, 9, true);
    const auto field = field_of(cloud, 0.0);
    for (const int length : {-20, 20})
        for (const int strength : {-20, 40}) {
            auto scaled = cloud;
            for (double& x : scaled.points) x = std::ldexp(x, length);
            for (double& q : scaled.strengths) q = std::ldexp(q, strength);
            const auto got = field_of(scaled, 0.0);
            for (std::size_t k = 0; k < field.size(); ++k)
                ASSERT_EQ(got[k], std::ldexp(field[k], strength - 2 * length))
                    << "component " << k << ", lengths 2^" << length << ", strengths 2^" << strength;
        }
}

TEST(Tensor, ConservesMomentum) {
    NEEDS_GPU();
    const auto cloud = gpu_test::plummer(60000, 10, true);
    const auto field = field_of(cloud, 0.01);
    double sum[3] = {0, 0, 0}, size = 0;
    for (std::size_t i = 0; i < 60000; ++i)
        for (std::size_t a = 0; a < 3; ++a) {
            sum[a] += cloud.strengths[i] * field[3 * i + a];
            size += std::abs(cloud.strengths[i] * field[3 * i + a]);
        }
    for (const double component : sum) EXPECT_LE(std::abs(component), 2e-7 * size);
}

} // namespace
} // namespace farfield::cuda
