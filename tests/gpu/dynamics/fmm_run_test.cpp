// Runs by fast multipole forces on a GPU give the same bits however often they are stopped.
#include "support.h"
#include "unit/dynamics/run_support.h"

#include "dynamics/run/checkpoint.h"
#include "dynamics/simulation/state.h"
#include "gpu/sizes.h"

namespace farfield {
namespace {

using namespace test;

// Far off, so that the frame of the points counts.
Bodies far_cluster(int n) {
    auto bodies = plummer_bodies(n);
    for (std::size_t i = 0; i < bodies.position.size(); i += 3) bodies.position[i] += 1000.0;
    return bodies;
}

TEST(GpuFmmRun, HasTheSameBitsAcrossRestarts) {
    NEEDS_GPU();
    for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4})
        for (const auto precision : {Precision::mixed, Precision::float64}) {
            const auto bodies = far_cluster(gpu_test::sized(3000, 300));
            const bool softened = precision == Precision::mixed;
            const ForceOptions force{.method = Method::fmm,
                                     .softening = softened ? 0.02 : 0.0,
                                     .tolerance = 1e-3,
                                     .leaf = softened ? 0 : 20, // that which the tree asks for
                                     .precision = precision,
                                     .device = {.kind = DeviceKind::cuda}};
            const TimeOptions time{.integrator = integrator, .step = 1.0 / 1024, .end = 0.03};
            Simulation whole(bodies, force, time), again(bodies, force, time);
            whole.advance_to(time.end);
            while (!again.finished()) again.step();
            EXPECT_EQ(whole.bodies().position, again.bodies().position);
            EXPECT_EQ(whole.bodies().velocity, again.bodies().velocity);
            for (const int stop : {1, 7, 23}) {
                Simulation first(bodies, force, time);
                SimulationAccess::advance(first, static_cast<std::uint64_t>(stop));
                auto second = SimulationAccess::restore(SimulationAccess::capture(first), force, time);
                second.advance_to(time.end);
                EXPECT_EQ(second.step_count(), whole.step_count());
                EXPECT_EQ(second.bodies().position, whole.bodies().position);
                EXPECT_EQ(second.acceleration(), whole.acceleration());
            }
        }
}

// The order is raised on the way: that, too, is the same after a restart before it and after it.
TEST(GpuFmmRun, StopsAndGoesOn) {
    NEEDS_GPU();
    const TemporaryFolder folder;
    auto simulation_case = lattice_case(folder / "lattice.csv");
    simulation_case.force.device = {.kind = DeviceKind::cuda};
    Messages messages;
    run_case(simulation_case, {.out = folder / "whole"}, messages.hooks());
    expect_contains(messages.text, {"missed tolerance = 0.003", "expansions of order"});
    expect_contains(bytes_of(folder / "whole" / "summary.json"),
                    {"\"device\": \"cuda\"", "\"method\": \"fmm\""});
    int stops = 0;
    for (bool finished = false; !finished;) {
        int polls = 0;
        RunHooks hooks;
        hooks.stop_requested = [&] { return ++polls == 3; };
        finished =
            run_case(simulation_case, {.out = folder / "stopped", .restart = stops > 0}, hooks).finished;
        stops += finished ? 0 : 1;
    }
    EXPECT_GE(stops, 3);
    expect_same_results(folder / "whole", folder / "stopped");
    const auto last = [&](const char* name) { return read_checkpoint(folder / name / "checkpoint.h5"); };
    EXPECT_EQ(last("whole").state.motion.force.order, last("stopped").state.motion.force.order);
}

} // namespace
} // namespace farfield
