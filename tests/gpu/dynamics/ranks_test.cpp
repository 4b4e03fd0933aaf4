// Simulations on ranks with a GPU each: the bits and files of one GPU. Ranks are threads here; GPUs are dealt
// out in turn, so that one GPU plays several.
#include "support.h"
#include "unit/dynamics/run_support.h"

#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"
#include "dynamics/simulation/state.h"
#include "expect_error.h"
#include "gpu/sizes.h"

#include <farfield/error.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace farfield {
namespace {

using namespace test;

ForceOptions of_rank(ForceOptions force, std::shared_ptr<comm::Transport> transport) {
    force.threads = 1;
    force.communicator = CommunicatorAccess::of(std::move(transport));
    return force;
}

/// Of few bodies, which every rank moves alike, and of many, which are divided; by all methods that have
/// forces on GPUs of ranks.
std::vector<Case> cases() {
    std::vector<Case> out;
    const auto add = [&](const std::string& name, int n, Integrator integrator, const ForceOptions& force) {
        auto one = small_case(integrator);
        one.name = name;
        one.initial.n = n;
        one.force = force;
        one.time.step = 1.0 / 512;
        one.time.end = 12.0 / 512;
        one.output.snapshot_every = 4.0 / 512;
        one.output.diagnostics_every = 2.0 / 512;
        one.output.checkpoint_every = 3.0 / 512;
        out.push_back(one);
    };
    const int many = gpu_test::sized(12001, 4999);
    add("few", 300, Integrator::leapfrog, on_gpu(Precision::mixed));
    add("single", many, Integrator::leapfrog, on_gpu(Precision::float32));
    add("mixed", many, Integrator::yoshida4, on_gpu(Precision::mixed));
    add("doubles", many, Integrator::leapfrog, on_gpu());
    auto tiles = on_gpu(Precision::mixed);
    tiles.variant = Variant::register_tile;
    add("register_tile", 1000, Integrator::leapfrog, tiles);
    for (const auto method : {Method::fmm, Method::treecode}) {
        auto force = on_gpu(Precision::mixed);
        force.method = method;
        force.tolerance = 1e-3;
        add(std::string(name_of(method)), 3000, Integrator::leapfrog, force);
    }
    for (const auto method : {Method::pme, Method::ewald, Method::fmm, Method::direct}) {
        auto force = on_gpu(Precision::float64, 0.02);
        force.kernel = Kernel::coulomb;
        force.method = method;
        force.tolerance = 1e-3;
        force.period = {4.0, 4.0, 4.0};
        add("box_by_" + std::string(name_of(method)), 3000, Integrator::leapfrog, force);
        out.back().initial.kind = InitialKind::plasma;
        out.back().initial.particle_charge = 0.05;
        out.back().initial.box = force.period;
    }
    return out;
}

/// What rank 0 does; rank `stopper` asks to stop at its first look.
RunResult run_on(int ranks, const Case& simulation_case, const RunSettings& settings, int stopper = -1) {
    RunResult result;
    comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto mine = simulation_case;
        mine.force = of_rank(mine.force, std::move(transport));
        const auto here =
            run_case(mine, settings,
                     {.progress = {}, .stop_requested = [=] { return rank == stopper; }, .message = {}});
        if (rank == 0) result = here;
    });
    return result;
}

class GpuRunOnRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, GpuRunOnRanks, testing::ValuesIn(cases()),
                         [](const auto& of) { return of.param.name; });

TEST_P(GpuRunOnRanks, LeavesTheFilesOfOneGpu) {
    NEEDS_GPU();
    const TemporaryFolder folder;
    run_case(GetParam(), {.out = folder / "one"});
    for (const int ranks : {2, 3, 8}) {
        const auto out = folder / std::to_string(ranks).c_str();
        EXPECT_TRUE(run_on(ranks, GetParam(), {.out = out}).finished);
        expect_contains(bytes_of(out / "summary.json"), {"\"device\": \"cuda\""});
        EXPECT_EQ(results_in(out), results_in(folder / "one"));
    }
}

TEST_P(GpuRunOnRanks, GoesOnOnAnotherNumberOfRanks) {
    NEEDS_GPU();
    const TemporaryFolder folder;
    run_case(GetParam(), {.out = folder / "one"});
    const auto out = folder / "several";
    EXPECT_FALSE(run_on(3, GetParam(), {.out = out}, 2).finished);
    EXPECT_FALSE(run_on(2, GetParam(), {.out = out, .restart = true}, 0).finished);
    EXPECT_TRUE(run_on(1, GetParam(), {.out = out, .restart = true}).finished);
    EXPECT_EQ(results_in(out), results_in(folder / "one"));
}

/// Two of them, both of the first rank, on their way to the same place.
Bodies that_meet() {
    auto bodies = plummer_bodies(gpu_test::sized(12000, 5000));
    for (auto& x : bodies.position) x += 100.0;
    std::fill(bodies.velocity.begin(), bodies.velocity.end(), 0.0);
    const double places[] = {-0.5, 0.0, 0.0, 0.5, 0.0, 0.0};
    std::copy(std::begin(places), std::end(places), bodies.position.begin());
    bodies.velocity[0] = 1.0;
    bodies.velocity[3] = -1.0;
    return bodies;
}

// Only the GPU of the first rank sees it.
TEST(GpuSimulationOnRanks, TellsOnAllThatBodiesMeet) {
    NEEDS_GPU();
    const auto bodies = that_meet();
    auto force = on_gpu(Precision::float64, 0.0);
    force.G = 1e-250; // they go straight
    const auto error_on = [&](const ForceOptions& mine) {
        Simulation simulation(bodies, mine, {.step = 1.0 / 64, .end = 1.0});
        return error_of<InvalidArgument>([&] {
            simulation.advance_to(1.0);
            (void)simulation.diagnostics();
        });
    };
    const auto one = error_on(force);
    expect_contains(one, {"step 32"});
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        EXPECT_EQ(error_on(of_rank(force, std::move(transport))), one);
    });
}

TEST(GpuSimulationOnRanks, TellsOnAllThatBodiesBeginInOnePlace) {
    NEEDS_GPU();
    auto bodies = that_meet();
    bodies.position[0] = bodies.position[3];
    for (const auto method : {Method::direct, Method::fmm, Method::treecode}) {
        auto force = on_gpu(Precision::float64, 0.0);
        force.method = method;
        const auto error_on = [&](const ForceOptions& mine) {
            return error_of<InvalidArgument>(
                [&] { Simulation(bodies, mine, {.step = 1.0 / 64, .end = 1.0}); });
        };
        const auto one = error_on(force);
        EXPECT_FALSE(one.empty());
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            EXPECT_EQ(error_on(of_rank(force, std::move(transport))), one);
        });
    }
}

TEST(GpuSimulationOnRanks, SendsMemoryOfGpus) {
    NEEDS_GPU();
    const auto bodies = plummer_bodies(gpu_test::sized(12000, 5000));
    const TimeOptions time{.step = 1.0 / 512, .end = 1.0};
    for (const auto precision : {Precision::float32, Precision::float64}) {
        auto force = on_gpu(precision);
        Simulation one(bodies, force, time);
        one.steps(5);
        force.mpi_gpu = MpiGpu::on;
        comm::run_ranks(
            3,
            [&](std::shared_ptr<comm::Transport> transport) {
                Simulation simulation(bodies, of_rank(force, std::move(transport)), time);
                simulation.steps(5);
                EXPECT_EQ(simulation.bodies().position, one.bodies().position);
            },
            true);
    }
}

// Ranks measure how long a step takes, and would queue other numbers of them.
TEST(GpuSimulationOnRanks, AdvancesToATime) {
    NEEDS_GPU();
    for (const auto method : {Method::direct, Method::fmm}) {
        auto force = on_gpu(Precision::mixed);
        force.method = method;
        if (method == Method::fmm) force.order = 3;
        const auto bodies = plummer_bodies(gpu_test::sized(20000, 5000));
        const TimeOptions time{.step = 1.0 / 4096, .end = 1.0};
        const double end = gpu_test::sized(200.0, 20.0) / 4096;
        Simulation one(bodies, force, time);
        one.advance_to(end);
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            Simulation simulation(bodies, of_rank(force, std::move(transport)), time);
            simulation.advance_to(end);
            EXPECT_EQ(simulation.step_count(), one.step_count());
            EXPECT_EQ(simulation.bodies().position, one.bodies().position);
        });
    }
}

TEST(GpuSimulationOnRanks, RefusesWhatIsNotDivided) {
    NEEDS_GPU();
    const auto bodies = plummer_bodies(100);
    auto rung = on_gpu(Precision::float32);
    rung.variant = Variant::flush;
    comm::run_ranks(2, [&](std::shared_ptr<comm::Transport> transport) {
        const auto mine = of_rank(rung, std::move(transport));
        expect_contains(
            error_of<InvalidArgument>([&] { Simulation(bodies, mine, {.step = 0.01, .end = 1.0}); }),
            {"ranks", "one process"});
    });
}

} // namespace
} // namespace farfield
