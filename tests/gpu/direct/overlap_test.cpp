// DeviceSums that threads drive side by side, with their arrays in pinned memory: the bits of one after the
// other.
#include "exact.h"
#include "gpu/needs_gpu.h"

#include "backend/cuda/host_buffer.h"
#include "sums/direct/cuda/device_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

namespace farfield::cuda {
namespace {

struct Pinned {
    explicit Pinned(const gpu_test::Cloud& cloud)
        : points(cloud.points.size()), strengths(cloud.strengths.size()), field(cloud.points.size()) {
        std::copy(cloud.points.begin(), cloud.points.end(), points.values().begin());
        std::copy(cloud.strengths.begin(), cloud.strengths.end(), strengths.values().begin());
    }
    void compute(DeviceSum& sum) const {
        sum.set_points(points.values(), strengths.values());
        sum.run();
        sum.fetch({}, field.values());
    }
    HostBuffer points, strengths, field;
};

std::vector<double> copied(const HostBuffer& buffer) {
    const auto values = buffer.values();
    return {values.begin(), values.end()};
}

TEST(DeviceSum, OverlapsWithAnotherAndKeepsItsBits) {
    NEEDS_GPU();
    const std::array<Pinned, 2> clouds{Pinned(gpu_test::plummer(20000, 1, false)),
                                       Pinned(gpu_test::plummer(9000, 2, false))};
    const DeviceSumOptions options{.softening = 0.01, .potential = false};
    std::array<std::vector<double>, 2> expected;
    for (std::size_t k = 0; k < 2; ++k) {
        DeviceSum sum(options);
        clouds[k].compute(sum);
        expected[k] = copied(clouds[k].field);
    }
    std::array<DeviceSum, 2> sums{DeviceSum(options), DeviceSum(options)};
    for (int round = 0; round < 3; ++round) {
        for (const auto& cloud : clouds)
            std::fill(cloud.field.values().begin(), cloud.field.values().end(), -1.0);
        std::thread other([&] { clouds[1].compute(sums[1]); });
        clouds[0].compute(sums[0]);
        other.join();
        for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(copied(clouds[k].field), expected[k]) << k;
    }
}

// Its memory is kept from sum to sum: fewer points must not see those before, more must have room.
TEST(DeviceSum, TakesOtherPoints) {
    NEEDS_GPU();
    const DeviceSumOptions options{.softening = 0.01, .potential = false};
    DeviceSum kept(options);
    for (const std::size_t n : {3000U, 100U, 5000U, 1U}) {
        const Pinned cloud(gpu_test::plummer(n, n, false));
        cloud.compute(kept);
        const auto got = copied(cloud.field);
        DeviceSum fresh(options);
        cloud.compute(fresh);
        EXPECT_EQ(got, copied(cloud.field)) << n;
    }
}

} // namespace
} // namespace farfield::cuda
