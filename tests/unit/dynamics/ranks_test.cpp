// Runs on several ranks leave the files of one, byte by byte, and go on from each other's checkpoints.
#include "runs_on_ranks.h"

#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"
#include "effort.h"
#include "expect_error.h"

#include <farfield/error.h>
#include <farfield/run.h>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

namespace farfield {
namespace {

using namespace test;

std::vector<Case> cases() {
    std::vector<Case> out;
    for (const auto integrator : {Integrator::leapfrog, Integrator::hermite4, Integrator::rk4}) {
        auto one = small_case(integrator);
        one.name = std::string(name_of(integrator));
        one.initial.n = 1500; // of which each pair is computed once
        one.time.end = 4.0 * one.time.step;
        one.output.snapshot_every = 2.0 * one.time.step;
        out.push_back(one);
    }
    auto adaptive = small_case(Integrator::hermite4);
    adaptive.name = "adaptive";
    adaptive.time.adaptive = true;
    out.push_back(adaptive);
    auto mixed = small_case(Integrator::yoshida4);
    mixed.name = "mixed";
    mixed.force.precision = Precision::mixed;
    out.push_back(mixed);
    auto tree = small_case();
    tree.name = "tree_code";
    tree.initial.n = 3000;
    tree.force.method = Method::treecode;
    tree.force.tolerance = 1e-3;
    tree.time.end = 3.0 * tree.time.step;
    out.push_back(tree);
    auto multipoles = tree;
    multipoles.name = "fast_multipole";
    multipoles.force.method = Method::fmm;
    out.push_back(multipoles);
    auto vortices = small_case(Integrator::rk4);
    vortices.name = "vortices";
    vortices.initial.kind = InitialKind::leapfrogging_pairs;
    vortices.force = {.kernel = Kernel::vortex2d};
    out.push_back(vortices);
    auto plasma = small_case();
    plasma.name = "plasma";
    plasma.initial.kind = InitialKind::plasma;
    plasma.initial.n = 1000;
    plasma.initial.box = {4.0, 4.0, 4.0};
    plasma.initial.particle_charge = 0.1;
    plasma.force = {.kernel = Kernel::coulomb,
                    .method = Method::pme,
                    .softening = 0.1,
                    .period = {4.0, 4.0, 4.0},
                    .tolerance = 1e-3};
    plasma.time.end = 3.0 * plasma.time.step;
    out.push_back(plasma);
    return out;
}

class RunOnRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, RunOnRanks, testing::ValuesIn(cases()),
                         [](const auto& of) { return of.param.name; });

TEST_P(RunOnRanks, LeavesTheFilesOfOne) {
    const TemporaryFolder folder;
    run_case(GetParam(), {.out = folder / "one"});
    for (const int ranks : sized(std::vector{2, 3, 8}, std::vector{3})) {
        const auto out = folder / std::to_string(ranks).c_str();
        EXPECT_TRUE(run_on(ranks, GetParam(), {.out = out}).finished);
        expect_results_of(out, folder / "one");
    }
}

// Stopped on three ranks at the first step, gone on with on two, and ended on one.
TEST_P(RunOnRanks, GoesOnOnAnotherNumberOfRanks) {
    const TemporaryFolder folder;
    run_case(GetParam(), {.out = folder / "one"});
    const auto out = folder / "several";
    EXPECT_FALSE(run_on(3, GetParam(), {.out = out}, 2).finished);
    EXPECT_FALSE(run_on(2, GetParam(), {.out = out, .restart = true}, 0).finished);
    EXPECT_TRUE(run_on(1, GetParam(), {.out = out, .restart = true}).finished);
    expect_results_of(out, folder / "one");
}

// The rank that is asked to stop does so after its third step, and the others with it: their exchanges stay
// paired.
TEST(SimulationOnRanks, StopsAfterTheSameStepOnAllRanks) {
    const auto simulation_case = small_case();
    std::atomic<int> alike{0};
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto force = simulation_case.force;
        force.threads = 1;
        force.communicator = CommunicatorAccess::of(std::move(transport));
        Simulation simulation(make_bodies(simulation_case.initial), force, {.step = 0.01, .end = 1.0});
        simulation.steps(10, [&] { return rank == 1 && simulation.step_count() == 3; });
        alike += simulation.step_count() == 3 ? 1 : 0;
        simulation.steps(4);
        alike += simulation.step_count() == 7 ? 1 : 0;
        simulation.steps(1000);
        alike += simulation.finished() && simulation.step_count() == 100 ? 1 : 0;
    });
    EXPECT_EQ(alike, 9);
}

TEST(RunsOnRanks, TellAMistakeOnAllRanks) {
    const TemporaryFolder folder;
    run_case(small_case(), {.out = folder / "used"});
    std::atomic<int> refused{0};
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        auto mine = small_case();
        mine.force.communicator = CommunicatorAccess::of(std::move(transport));
        const auto message = error_of<InvalidArgument>([&] { run_case(mine, {.out = folder / "used"}); });
        expect_contains(message, {"earlier run", "checkpoint.h5"});
        ++refused;
    });
    EXPECT_EQ(refused, 3);
}

} // namespace
} // namespace farfield
