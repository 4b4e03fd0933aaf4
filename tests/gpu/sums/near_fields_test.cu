// What pairs at close range do to fields, on a GPU beside the CPU.
#include "backend/cuda/memory.h"
#include "gpu/needs_gpu.h"
#include "sums/kernels/kernel.h"
#include "sums/lattice/cuda/near_fields.cuh"
#include "sums/lattice/in_box.h"
#include "sums/lattice/near_fields.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace farfield::cuda {
namespace {

using Values = std::vector<double>;

Values points_in(const std::array<double, 3>& period, std::size_t n, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0); // some of them outside
    Values out;
    for (std::size_t i = 0; i < 3 * n; ++i) out.push_back(period[i % 3] * uniform(engine));
    return out;
}

DeviceArray<Vec4<double>> in_box(const Values& points, const PeriodicFrame& frame) {
    std::vector<Vec4<double>> at;
    for (std::size_t i = 0; i < points.size(); i += 3) {
        double x[3];
        for (std::size_t k = 0; k < 3; ++k)
            x[k] = image_in_box(std::ldexp(points[i + k], frame.exponent), frame.length[k]);
        at.push_back({x[0], x[1], x[2], 0.0});
    }
    DeviceArray<Vec4<double>> out(at.size());
    copy(out.data(), at.data(), at.size(), nullptr);
    return out;
}

// In boxes of one and of two cells along an axis, too; one object for larger and for smaller sets.
TEST(NearFieldsOnGpu, AreThoseOfTheCpu) {
    NEEDS_GPU();
    NearFields fields;
    for (const std::array<double, 3>& period : {std::array{1.0, 1.0, 1.0}, std::array{300.0, 100.0, 20.0}})
        for (const std::size_t n : {1UL, 2UL, 9UL, 20000UL, 400UL})
            for (const double softening : {0.0, 0.03 * period[0]}) {
                SumProblem problem;
                problem.kernel = &kernel_info(Kernel::coulomb);
                problem.period = period;
                problem.softening = softening;
                problem.sources = static_cast<std::int64_t>(n);
                const PeriodicFrame frame(problem);
                const auto sources = points_in(period, n, 1), targets = points_in(period, 700, 2);
                const auto from = in_box(sources, frame), to = in_box(targets, frame);
                const BoxPoints at{from.data(), static_cast<int>(n)}, others{to.data(), 700};
                const double of_self = near_field_strength(problem, sources, {}, 2);
                EXPECT_NEAR(fields.strength(frame, at, {}, true, nullptr), of_self, 1e-9 * of_self) << n;
                const double of_targets = near_field_strength(problem, sources, targets, 2);
                EXPECT_NEAR(fields.strength(frame, at, others, false, nullptr), of_targets, 1e-9 * of_targets)
                    << n;
            }
    SumProblem nothing;
    nothing.period = {1.0, 1.0, 1.0};
    EXPECT_EQ(fields.strength(PeriodicFrame(nothing), {}, {}, true, nullptr), 1.0);
}

} // namespace
} // namespace farfield::cuda
