// The bar for a cluster: a Plummer model of 4096 bodies, softening 0.01, leapfrog with step 1/1024 over 4
// time units keeps its energy to 1e-4 and its angular momentum to 1e-12 of Σ m |x × v|. Half a minute on two
// cores; one time unit where tests shall be shorter.
#include "effort.h"
#include "systems.h"

#include <farfield/run.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

namespace farfield {
namespace {

TEST(PlummerBar, KeepsEnergyAndAngularMomentum) {
    InitialOptions initial;
    initial.n = 4096;
    initial.seed = 1;
    const double end = test::shorter() ? 1.0 : 4.0;
    Simulation simulation(make_bodies(initial), {.softening = 0.01}, {.step = 1.0 / 1024, .end = end});
    const double scale = test::angular_scale(simulation.bodies());
    const auto start = simulation.diagnostics();
    double energy_error = 0.0;
    double angular_error = 0.0;
    while (!simulation.finished()) {
        simulation.advance_to(simulation.time() + 0.25);
        const auto now = simulation.diagnostics();
        energy_error = std::max(energy_error, std::abs(now.relative_energy_error));
        for (int k = 0; k < 3; ++k)
            angular_error = std::max(angular_error,
                                     std::abs(now.angular_momentum[k] - start.angular_momentum[k]) / scale);
    }
    std::printf("energy %.2e  angular momentum %.2e  %.2e pairs/s\n", energy_error, angular_error,
                simulation.pairs_evaluated() / simulation.force_seconds());
    EXPECT_EQ(simulation.step_count(), static_cast<std::uint64_t>(1024 * end));
    EXPECT_LT(energy_error, 1e-4);
    EXPECT_GT(energy_error, 0.0);
    EXPECT_LT(angular_error, 1e-12);
}

} // namespace
} // namespace farfield
