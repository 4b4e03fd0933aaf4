// What sums over periodic boxes compute alike on CPUs and GPUs, against plain definitions.
#include "math/ops.h"
#include "sums/lattice/complementary_error.h"
#include "sums/lattice/in_box.h"
#include "sums/lattice/near_cells.h"
#include "sums/method/method.h"
#include "sums/pme/mesh_choice.h"
#include "sums/pme/splines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace farfield {
namespace {

SumProblem box(std::array<double, 3> period) {
    SumProblem problem;
    problem.period = period;
    return problem;
}

// erfcl has the digits to compare with; its values underflow beyond x = 100.
TEST(BoxFormulas, ScaledComplementaryErrorOfOneNumber) {
    for (double x = 0.0; x < 9.0; x += 0.0137) {
        const auto exact = static_cast<double>(std::exp(static_cast<long double>(x) * x) * erfcl(x));
        EXPECT_NEAR(scaled_complementary_error_of(1.0 / (3.0 + x)), exact, 1.5e-15 * exact) << x;
    }
}

TEST(BoxFormulas, WrappedCoordinatesLieInTheBox) {
    std::mt19937 engine(1);
    std::uniform_real_distribution<double> uniform(-50.0, 50.0);
    for (const double length : {1.0, 1.7, 1e-6}) {
        for (int i = 0; i < 1000; ++i) {
            const double x = uniform(engine) * length, at = image_in_box(x, length);
            EXPECT_GE(at, 0.0);
            EXPECT_LT(at, length);
            const double periods = (x - at) / length;
            EXPECT_NEAR(periods, std::round(periods), 1e-12);
        }
        for (const double x : {0.0, -0.0, length, -length, -1e-300, std::nextafter(length, 0.0)}) {
            EXPECT_GE(image_in_box(x, length), 0.0);
            EXPECT_LT(image_in_box(x, length), length);
        }
    }
}

TEST(BoxFormulas, NearCellsFillTheBoxAndAreNotTooMany) {
    for (const auto& period : {std::array{1.0, 1.0, 1.0}, std::array{1.0, 8.0, 0.3},
                               std::array{1.0, 1.0, 1e-9}, std::array{1e-9, 1.0, 1e-9}})
        for (const std::int64_t n : {0, 1, 1000, 100000000})
            for (const double cutoff : {1e-3, 0.2, 5.0}) {
                const PeriodicFrame frame(box(period));
                const auto cells = near_cells(frame, cutoff, n);
                double all = 1.0;
                for (std::size_t k = 0; k < 3; ++k) {
                    EXPECT_GE(cells.count[k], 1);
                    EXPECT_DOUBLE_EQ(cells.width[k] * static_cast<double>(cells.count[k]), frame.length[k]);
                    all *= static_cast<double>(cells.count[k]);
                }
                EXPECT_LE(all, 1 << 29); // cells are counted in 32 bits on GPUs
            }
}

TEST(BoxFormulas, SplinePlacesAreWhereWeightsBelong) {
    const std::int32_t n = 12;
    const double length = 1.5;
    for (int order = least_spline_order; order <= most_spline_order; ++order) {
        const Splines splines(order);
        const auto row = static_cast<std::size_t>(padded_order(order));
        for (const double x : {0.0, 0.3, 0.99, std::nextafter(length, 0.0)}) {
            const auto place = spline_place(x, length, n, order);
            ASSERT_GE(place.cell, 0);
            ASSERT_LT(place.cell, n);
            // weights sum to 1, and their mean is the point, but for whole boxes
            double sum = 0.0, mean = 0.0;
            for (int j = 0; j < order; ++j) {
                double weight = 0.0;
                for (int k = order - 1; k >= 0; --k)
                    weight = weight * (place.fraction - 0.5) +
                             splines.values[static_cast<std::size_t>(k) * row + static_cast<std::size_t>(j)];
                sum += weight;
                mean += weight * (place.cell - order / 2 + 1 + j);
            }
            EXPECT_NEAR(sum, 1.0, 1e-13);
            const double off = (mean - x / length * n) / n;
            EXPECT_NEAR(off, std::round(off), 1e-12) << order << ", " << x;
        }
    }
}

// The same mesh for any GPU: bits do not depend on which one the table knows.
TEST(BoxFormulas, MeshesAreTheSameForAllGpus) {
    auto problem = box({1.0, 1.0, 1.0});
    problem.sources = problem.targets = 100000;
    const auto table = shipped_cost_table();
    const auto any = best_mesh(problem, 0, 1e-5, mesh_rates_on_gpu(table, ""));
    const auto known = best_mesh(problem, 0, 1e-5, mesh_rates_on_gpu(table, "NVIDIA H200"));
    EXPECT_GE(any.order, least_spline_order);
    EXPECT_EQ(any.mesh, known.mesh);
    EXPECT_EQ(any.order, known.order);
    EXPECT_EQ(any.near, known.near);
    EXPECT_LT(known.seconds, any.seconds); // of a faster one
}

// What `--method auto --device cuda` compares for a box along all axes; the tree of a cube, which it does not
// try, ends before meshes of many points.
TEST(BoxFormulas, OnAGpuWavesOrMeshesEndBeforeImages) {
    for (const std::int64_t n : {100, 1000, 100000, 10000000})
        for (const double tolerance : {0.0, 1e-3, 1e-6, 1e-10}) {
            SCOPED_TRACE(testing::Message() << n << ", " << tolerance);
            auto problem = box({1.0, 1.0, 1.0});
            problem.kernel = &kernel_info(Kernel::coulomb);
            problem.sources = problem.targets = n;
            problem.tolerance = tolerance;
            problem.moves = true; // else the start of the GPU outlasts all
            const SumOptions options{.kernel = Kernel::coulomb,
                                     .method = Method::automatic,
                                     .period = problem.period,
                                     .tolerance = tolerance,
                                     .device = {.kind = DeviceKind::cuda, .gpus = {0}}};
            const auto candidates = candidate_methods(problem, options);
            ASSERT_EQ(candidates.usual->value, Method::ewald);
            ASSERT_NE(candidates.fast, nullptr);
            ASSERT_EQ(candidates.fast->value, Method::pme);
            const auto seconds = [&](Method method) {
                return method_info(method).seconds(problem, options, "NVIDIA H200", shipped_cost_table());
            };
            const double waves = seconds(Method::ewald), mesh = seconds(Method::pme);
            EXPECT_EQ(waves < mesh, n <= 1000);
            EXPECT_LT(std::min(waves, mesh), seconds(Method::direct));
            if (n == 10000000 && tolerance == 1e-3) EXPECT_LT(seconds(Method::fmm), mesh);
        }
}

} // namespace
} // namespace farfield
