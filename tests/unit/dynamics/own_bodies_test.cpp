// Simulations whose ranks have bodies of their own, as those of runs do: the motion is that of one process,
// bit by bit, and all bodies are there for those who ask.
#include "runs_on_ranks.h"

#include "dynamics/bodies/body_rows.h"
#include "dynamics/propagators/own_bodies.h"
#include "dynamics/simulation/state.h"
#include "expect_error.h"
#include "systems.h"

#include <farfield/error.h>
#include <farfield/simulation.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace farfield {
namespace {

using namespace test;

using Change = std::function<void(ForceOptions&)>;

ForceOptions by_multipoles(std::shared_ptr<comm::Transport> transport = nullptr, const Change& change = {}) {
    ForceOptions force{.method = Method::fmm, .softening = 0.05, .order = 5, .leaf = 8, .threads = 1};
    if (change) change(force);
    if (transport) force.communicator = CommunicatorAccess::of(std::move(transport));
    return force;
}

/// Fast multipole sums, and the tree code with and without local expansions.
std::vector<Change> methods() {
    const auto by_tree = [](int order) {
        return [order](ForceOptions& force) {
            force.method = Method::treecode;
            force.order = order;
        };
    };
    return {[](ForceOptions& /*force*/) {}, by_tree(3), by_tree(1)};
}

Bodies cluster(std::int64_t n) {
    InitialOptions options;
    options.kind = InitialKind::plummer;
    options.n = n;
    options.seed = 3;
    return make_bodies(options);
}

auto moving(const Simulation& simulation) {
    const auto& bodies = simulation.bodies();
    return std::tuple(bodies.position, bodies.velocity, simulation.acceleration());
}

/// `use` of a simulation with bodies on ranks and of one without; what it returns must be the same on all.
template <class Use>
void expect_as_one(int ranks, const Bodies& bodies, const TimeOptions& time, const Use& use,
                   const Change& change = {}) {
    Simulation alone(bodies, by_multipoles(nullptr, change), time);
    const auto expected = use(alone);
    std::atomic<int> alike{0};
    comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
        auto shared = SimulationAccess::begin(bodies, by_multipoles(std::move(transport), change), time, 0.0);
        if (use(shared) == expected) ++alike;
    });
    EXPECT_EQ(alike, ranks);
}

// Rows that are dealt at random come together in their order, and those of the start are found again.
TEST(BodyRows, AreFoundWhereverTheyWere) {
    const auto bodies = cluster(101);
    std::atomic<int> alike{0};
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        BodyRows rows(*transport, bodies);
        auto own = rows.of(bodies);
        EXPECT_EQ(rows.all(own), 101);
        const auto first = own.position;
        std::mt19937 random(static_cast<unsigned>(transport->rank()));
        Homes homes; // of which the last rank has none
        homes.order.resize(own.mass.size());
        std::iota(homes.order.begin(), homes.order.end(), 0);
        std::shuffle(homes.order.begin(), homes.order.end(), random);
        homes.begins = {0, static_cast<std::int64_t>(random() % own.mass.size()), own.size(), own.size()};
        {
            const BodyMoves moves(rows, homes, BodyMoves::Order::arrival);
            moves.move(own.position, 3);
            moves.move(own.id, 1);
        }
        EXPECT_EQ(own.id.empty(), transport->rank() == 2);
        for (std::size_t i = 0; i < own.id.size(); ++i)
            EXPECT_EQ(own.id[i], bodies.id[static_cast<std::size_t>(rows.row(i))]);
        std::vector<double> everywhere, on_root(transport->rank() == 0 ? 303 : 0);
        rows.to_all(own.position, everywhere, 3);
        rows.to_root(own.position, on_root, 3);
        std::vector<double> terms;
        for (std::size_t i = 0; i < own.id.size(); ++i) terms.push_back(own.position[3 * i]);
        std::vector<double> all_terms;
        for (std::size_t i = 0; i < 101; ++i) all_terms.push_back(bodies.position[3 * i]);
        const bool same_sum = rows.sum(terms) == BodyRows().sum(all_terms);
        const BodyMoves back(rows, rows.first_homes(), BodyMoves::Order::rows);
        back.move(own.position, 3);
        if (everywhere == bodies.position && same_sum && own.position == first &&
            (transport->rank() != 0 || on_root == bodies.position))
            ++alike;
    });
    EXPECT_EQ(alike, 3);
}

TEST(OwnBodies, MoveAsInOneProcess) {
    for (const auto integrator : {Integrator::leapfrog, Integrator::yoshida4, Integrator::rk4})
        for (const auto& method : methods())
            for (const int ranks : {2, 5})
                expect_as_one(
                    ranks, cluster(700), {.integrator = integrator, .step = 0.01, .end = 1.0},
                    [](Simulation& simulation) {
                        simulation.steps(3);
                        return moving(simulation);
                    },
                    method);
}

// In no order at first, bodies move to the ranks that have their leaves, and later those that have crossed
// from one to another.
TEST(OwnBodies, MoveToTheRanksThatSumOverThem) {
    const auto bodies = cluster(2000);
    Simulation alone(bodies, by_multipoles(), {.step = 0.05, .end = 2.0});
    alone.steps(30);
    std::atomic<int> alike{0};
    comm::run_ranks(4, [&](std::shared_ptr<comm::Transport> transport) {
        const auto force = by_multipoles(std::move(transport));
        MotionState motion;
        motion.bodies = bodies;
        motion.force = {.method = Method::fmm, .order = 5, .leaf = 8};
        OwnBodiesPropagator steps({.force = force}, force, motion, "");
        steps.advance({.count = 1, .length = 0.05});
        const auto at_first = steps.moved();
        EXPECT_GT(at_first, 1000);
        EXPECT_LT(at_first, 2000);
        for (int k = 1; k < 30; ++k) steps.advance({.count = 1, .length = 0.05});
        EXPECT_GT(steps.moved(), at_first + 100);
        EXPECT_LT(steps.moved(), at_first + 10 * 2000);
        steps.update_motion();
        if (motion.bodies.position == alone.bodies().position &&
            motion.bodies.velocity == alone.bodies().velocity && motion.bodies.id == bodies.id)
            ++alike;
    });
    EXPECT_EQ(alike, 4);
}

// Bodies of one rank and of another, which have lower rows, jump into the same of the tree's smallest cells.
TEST(OwnBodies, MayMeetInTheSmallestCells) {
    auto bodies = cluster(3000);
    bodies.position[2] = 30.0; // which makes them large
    constexpr double step = 1e-6;
    for (std::size_t pair = 0; pair < 10; ++pair)
        for (const std::size_t other : {0, 1}) {
            const std::size_t body = other == 0 ? 1 + pair : 2999 - pair;
            const double start[] = {0.1 * static_cast<double>(pair), 0.0, other == 0 ? 2.0 : -2.0};
            for (std::size_t k = 0; k < 3; ++k) {
                const double end = 0.01 * static_cast<double>(pair) + (other == 0 ? 3e-6 : 0.0);
                bodies.position[3 * body + k] = start[k];
                bodies.velocity[3 * body + k] = (end - start[k]) / step;
            }
        }
    for (const auto& method : methods())
        expect_as_one(
            2, bodies, {.step = step, .end = 1.0},
            [](Simulation& simulation) {
                simulation.steps(1);
                return moving(simulation);
            },
            method);
}

// Pairs of two ranks that are one place in float are computed again in double, by all ranks with all bodies.
TEST(OwnBodies, MayComeTooCloseForFloat) {
    auto bodies = cluster(3000);
    for (std::size_t pair = 0; pair < 5; ++pair)
        for (std::size_t k = 0; k < 3; ++k)
            bodies.position[3 * (2999 - pair) + k] = bodies.position[3 * pair + k] + (k == 0 ? 1e-10 : 0.0);
    for (const auto& method : methods())
        expect_as_one(
            3, bodies, {.step = 1e-20, .end = 1e-18},
            [](Simulation& simulation) {
                simulation.steps(2);
                return moving(simulation);
            },
            [&](ForceOptions& force) {
                method(force);
                force.softening = 0.0;
                force.precision = Precision::float32;
            });
}

// All are within one of them, and some on exactly the same place.
TEST(OwnBodies, MayCrowdInTheSmallestCells) {
    auto bodies = cluster(600);
    for (std::size_t i = 0; i < 3 * 600; ++i) bodies.position[i] = 1e-3 * bodies.position[i];
    bodies.position[0] = 5000.0;
    for (std::size_t k = 0; k < 3; ++k) bodies.position[3 * 450 + k] = bodies.position[3 * 20 + k];
    for (const auto& method : methods())
        expect_as_one(
            3, bodies, {.step = 1e-4, .end = 1.0},
            [](Simulation& simulation) {
                simulation.steps(5);
                return moving(simulation);
            },
            method);
}

TEST(OwnBodies, MayBeFewerThanRanks) {
    for (const auto& method : methods())
        expect_as_one(
            8, cluster(3), {.step = 0.01, .end = 1.0},
            [](Simulation& simulation) {
                const auto row = simulation.diagnostics();
                simulation.advance_to(0.055);
                return std::tuple(row.total, row.angular_momentum, row.lagrangian_radii, moving(simulation));
            },
            method);
}

TEST(OwnBodies, ArePlacedByTheCaller) {
    const auto bodies = cluster(500);
    expect_as_one(3, bodies, {.step = 0.01, .end = 1.0}, [&](Simulation& simulation) {
        simulation.steps(2);
        auto position = simulation.bodies().position;
        for (double& x : position) x *= 1.5;
        simulation.set_positions(position);
        simulation.steps(2);
        simulation.set_velocities(bodies.velocity);
        simulation.steps(1);
        return moving(simulation);
    });
}

TEST(OwnBodies, ComeBackAfterTheyWereReleased) {
    auto bodies = cluster(300);
    bodies.charge.assign(300, 0.5);
    bodies.id.front() = 1000;
    std::atomic<int> alike{0};
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto force = by_multipoles(std::move(transport));
        force.kernel = Kernel::coulomb;
        auto simulation = SimulationAccess::begin(bodies, force, {.step = 0.01, .end = 1.0}, 0.0);
        const std::int64_t kept = rank == 0 ? 300 : 0;
        EXPECT_EQ(SimulationAccess::body_count(simulation), kept);
        simulation.steps(1);
        const auto row = simulation.diagnostics();
        EXPECT_GT(row.kinetic, 0.0);
        EXPECT_EQ(SimulationAccess::body_count(simulation), kept);
        const auto& all = simulation.bodies();
        if (all.mass == bodies.mass && all.charge == bodies.charge && all.id == bodies.id &&
            all.position != bodies.position && all.position.size() == 900)
            ++alike;
    });
    EXPECT_EQ(alike, 3);
}

// A step that is given up leaves the state before it on all ranks, whoever asked.
TEST(OwnBodies, AreThoseBeforeAStepThatIsGivenUp) {
    const auto bodies = cluster(5000);
    Simulation alone(bodies, by_multipoles(), {.step = 0.01, .end = 1.0});
    alone.steps(3);
    std::atomic<int> alike{0}, given_up{0};
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto shared = SimulationAccess::begin(bodies, by_multipoles(std::move(transport)),
                                              {.step = 0.01, .end = 1.0}, 0.0);
        shared.steps(1);
        shared.step([rank] { return rank == 1; });
        if (shared.step_count() == 1) ++given_up;
        shared.steps(3 - shared.step_count());
        if (moving(shared) == moving(alone)) ++alike;
    });
    EXPECT_EQ(given_up, 3);
    EXPECT_EQ(alike, 3);
}

TEST(OwnBodies, AreNamedInMistakes) {
    auto bodies = cluster(40);
    for (std::size_t k = 0; k < 3; ++k) bodies.position[3 * 35 + k] = bodies.position[3 * 2 + k];
    std::atomic<int> refused{0};
    comm::run_ranks(4, [&](std::shared_ptr<comm::Transport> transport) {
        auto force = by_multipoles(transport);
        force.softening = 0.0;
        expect_contains(error_of<InvalidArgument>(
                            [&] { SimulationAccess::begin(bodies, force, {.step = 0.01, .end = 1.0}, 0.0); }),
                        {"bodies 3 and 36 (rows 2 and 35) are at the same place"});
        auto fast = cluster(40);
        fast.velocity[3 * 39] = 1e300;
        auto simulation =
            SimulationAccess::begin(fast, by_multipoles(transport), {.step = 1e10, .end = 1e12}, 0.0);
        expect_contains(error_of<InvalidArgument>([&] { simulation.steps(2); }),
                        {"step 1 from t = 0", "the position of body 40 (row 39) is not finite"});
        ++refused;
    });
    EXPECT_EQ(refused, 4);
}

// Its order is raised on the way, and the last step taken again; charges and masses differ from body to body.
TEST(OwnBodies, KeepTheirTolerance) {
    const TemporaryFolder folder;
    auto lattice = lattice_case(folder / "lattice.csv");
    Messages messages;
    run_case(lattice, {.out = folder / "one"}, messages.hooks());
    expect_contains(messages.text, {"the last step was taken again"});
    EXPECT_TRUE(run_on(3, lattice, {.out = folder / "several"}).finished);
    expect_results_of(folder / "several", folder / "one");
    EXPECT_FALSE(run_on(2, lattice, {.out = folder / "stopped"}, 1).finished);
    EXPECT_TRUE(run_on(3, lattice, {.out = folder / "stopped", .restart = true}).finished);
    expect_results_of(folder / "stopped", folder / "one");
}

} // namespace
} // namespace farfield
