// What is settled of the forces when a simulation begins: the method, and what suits its device; and how the
// order is raised on the way, whoever computes.
#include "run_support.h"
#include "systems.h"

#include "dynamics/forces/tolerance.h"
#include "dynamics/propagators/device_choice.h"
#include "dynamics/propagators/method_choice.h"
#include "sums/costs/cost_file.h"
#include "sums/fmm/gpu_shape.h"

#include <farfield/device.h>
#include <farfield/error.h>
#include <farfield/options.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace farfield {
namespace {

using namespace test;

// Forces by a rule of their own: an error that each order halves, and that grows with each row.
struct MadeUpForces {
    ForceSettings settings{.method = Method::fmm, .order = 4};
    double error = 1e-3;
    int computed = 0;

    ForceErrors keep(const ForceOptions& force, bool after_steps) {
        return keep_tolerance(force, settings,
                              {.compare =
                                   [&] {
                                       return ForceErrors{now(), now() / 2.0};
                                   },
                               .compute_again = [&] { ++computed; },
                               .after_steps = after_steps});
    }
    [[nodiscard]] double now() const { return error * std::exp2(4 - settings.order); }
};

TEST(ForceOrder, IsRaisedUntilTheToleranceIsKept) {
    const ForceOptions force{.method = Method::fmm, .tolerance = 2e-3, .precision = Precision::float64};
    MadeUpForces forces;
    EXPECT_EQ(forces.keep(force, false).acceleration, 1e-3);
    EXPECT_EQ(forces.settings.worst_acceleration_error, 1e-3);
    EXPECT_EQ(forces.settings.worst_potential_error, 5e-4);
    forces.error = 1e-2;
    EXPECT_LE(forces.keep(force, true).acceleration, 2e-3);
    EXPECT_GE(forces.settings.order, 7); // 1e-2 / 2³ < 2e-3
    EXPECT_GE(forces.computed, 1);
    EXPECT_EQ(forces.settings.worst_acceleration_error, 1e-2) << "steps were taken with it";
    // Before the first step what is too large was of no use to anybody.
    MadeUpForces at_start;
    at_start.error = 1e-2;
    at_start.keep(force, false);
    EXPECT_LE(at_start.settings.worst_acceleration_error, 2e-3);
    EXPECT_GT(at_start.settings.worst_acceleration_error, 0.0);
}

TEST(ForceOrder, StaysWithoutAToleranceOrByHand) {
    MadeUpForces forces;
    forces.error = 0.5;
    forces.keep({.method = Method::fmm}, true);
    EXPECT_EQ(forces.settings.order, 4);
    EXPECT_EQ(forces.settings.worst_acceleration_error, 0.0);
    const ForceOptions by_hand{.method = Method::fmm, .tolerance = 1e-3, .order = 4};
    expect_contains(error_of<ToleranceNotReached>([&] { forces.keep(by_hand, true); }),
                    {"accelerations is 0.5", "order 4", "leave order out"});
    EXPECT_EQ(forces.computed, 0);
    forces.error = NAN; // as of a sum that is no number
    EXPECT_THROW(forces.keep({.method = Method::direct, .tolerance = 1e-3}, true), ToleranceNotReached);
}

TEST(ForceMethod, IsChosenOnce) {
    const auto settled = [](int n, const ForceOptions& force, Integrator integrator = Integrator::leapfrog) {
        return settle_force(force, integrator, crowd(n, 3), 100.0);
    };
    ForceOptions force{.method = Method::automatic, .device = {.kind = DeviceKind::cpu}};
    EXPECT_EQ(settled(100, force).method, Method::direct);
    expect_contains(settled(100, force).reason, {"neither a tolerance"});
    force.tolerance = 1e-3;
    EXPECT_EQ(settled(1000, force).method, Method::direct);
    const auto many = settled(100000, force);
    EXPECT_EQ(many.method, Method::fmm);
    EXPECT_GT(many.order, 0);
    EXPECT_GT(many.leaf, 1);
    expect_contains(many.reason, {"cost table", "'direct'", "'fmm'"});
    EXPECT_EQ(settled(1000, force, Integrator::hermite4).method, Method::direct);
    // The bits of a run do not depend on threads.
    for (const int threads : {1, 2, 64}) {
        force.threads = threads;
        for (const int n : {2000, 4000, 8000, 16000}) {
            auto of_one = force;
            of_one.threads = 1;
            EXPECT_EQ(settled(n, force).method, settled(n, of_one).method) << n;
        }
    }
}

// What was given for expansions is of no use to the method that `auto` took, and no error.
TEST(ForceMethod, ThatAutoTakesGetsItsOwnOptions) {
    const ForceOptions force{.method = Method::automatic, .order = 7, .separation = 2, .grading = 0.3};
    const auto settings = settle_force(force, Integrator::leapfrog, crowd(100, 3), 100.0);
    ASSERT_EQ(settings.method, Method::direct);
    const auto options = sum_options_of(force, settings, Precision::float64);
    EXPECT_NO_THROW(check_options(options));
    EXPECT_EQ(options.order, 0);
    auto by_hand = force;
    by_hand.method = Method::fmm;
    EXPECT_EQ(sum_options_of(by_hand, {.method = Method::fmm}, Precision::float64).order, 7);
}

// Leaves on a GPU have a size of their own, and plans made of what is settled have the same tree.
TEST(ForceMethod, IsSettledForItsDevice) {
    ForceOptions force{.method = Method::fmm, .tolerance = 1e-6, .device = {.kind = DeviceKind::cpu}};
    force.precision = Precision::float64;
    for (const int n : {500, 20000, 100000}) {
        const auto bodies = crowd(n, 3);
        force.device.kind = DeviceKind::cpu;
        const auto on_cpu = settle_force(force, Integrator::leapfrog, bodies, 100.0);
        force.device.kind = DeviceKind::cuda;
        const auto on_gpu = settle_force(force, Integrator::leapfrog, bodies, 100.0);
        EXPECT_EQ(on_gpu.method, Method::fmm);
        EXPECT_EQ(on_gpu.order, on_cpu.order);
        EXPECT_EQ(on_gpu.m2l, M2L::automatic) << "each order has its own there";
        SumProblem problem;
        problem.kernel = &kernel_info(Kernel::gravity);
        problem.sources = problem.targets = n;
        problem.tolerance = force.tolerance;
        const auto shape_by = [&](const ForceSettings& settings) {
            return gpu_fmm_shape(problem, sum_options_of(force, settings, force.precision),
                                 cost_table_in_use().table);
        };
        const auto open = shape_by({.method = Method::fmm}), settled = shape_by(on_gpu);
        EXPECT_EQ(settled.order, open.order);
        EXPECT_EQ(settled.grid.cells(), open.grid.cells()) << n;
        EXPECT_EQ(settled.tree.most, open.tree.most) << n;
    }
    EXPECT_EQ(deciding_cost_table(force), "") << "the table has no part in it";
    force.softening = 0.01;
    const auto softened = settle_force(force, Integrator::leapfrog, crowd(20000, 3), 100.0);
    EXPECT_GT(softened.order, 0);
    EXPECT_EQ(softened.leaf, 0) << "the sum chooses it for each tree";
    force.method = Method::automatic;
    const auto few = [&] { return settle_force(force, Integrator::leapfrog, crowd(100, 3), 100.0).method; };
    if (gpus().empty())
        EXPECT_THROW((void)few(), BackendUnavailable); // whose rates count is not known
    else
        EXPECT_EQ(few(), Method::direct);
}

TEST(ForceMethod, IsToldAndWritten) {
    const TemporaryFolder folder;
    auto simulation_case = small_case();
    simulation_case.force.method = Method::automatic;
    simulation_case.force.tolerance = 1e-3;
    Messages messages;
    run_case(simulation_case, {.out = folder / "out"}, messages.hooks());
    expect_contains(messages.text, {"method = auto takes 'direct'"});
    const auto summary = nlohmann::json::parse(bytes_of(folder / "out" / "summary.json"));
    EXPECT_EQ(summary.at("force").at("method"), "direct");
    EXPECT_EQ(summary.at("options").at("force").at("method"), "auto");
}

} // namespace
} // namespace farfield
