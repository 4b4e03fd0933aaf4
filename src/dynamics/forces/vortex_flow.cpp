#include "dynamics/forces/vortex_flow.h"

#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "dynamics/bodies/plane.h"
#include "dynamics/bodies/reductions.h"
#include "dynamics/forces/checks.h"
#include "sums/plan_access.h"
#include "sums/select/verify.h"

#include <farfield/error.h>
#include <farfield/options.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

// x and y of N×3.
template <class View>
View plane_of(View view) {
    view.shape[1] = 2;
    return view;
}

void check_machine(const ForceOptions& options) {
    if (options.device.kind == DeviceKind::cuda)
        throw InvalidArgument(
            fmt::format("simulations of vortices run on the CPU only; leave {} out, or use {}",
                        spelled("device", name_of(options.device)), spelled("device", "cpu")));
}

void check_plane(const Bodies& bodies) {
    if (bodies.charge.empty())
        throw InvalidArgument(
            fmt::format("{} was asked for, but the bodies have no circulations (charges): give them (column "
                        "gamma of a CSV file, the third column of an .npy file)",
                        spelled("kernel", "vortex2d")));
    for (std::size_t i = 0; i < bodies.mass.size(); ++i)
        if (bodies.position[3 * i + 2] != 0.0)
            throw InvalidArgument(
                fmt::format("body {} (row {}) is at z = {}: with {} vortices move in the plane z = 0",
                            bodies.id[i], i, bodies.position[3 * i + 2], spelled("kernel", "vortex2d")));
}

} // namespace

void check_vortices(const ForceOptions& options, Integrator integrator, const Bodies& bodies) {
    check_options(options);
    check_machine(options);
    if (options.communicator.size() > 1 && options.reinitialise != Reinitialise::none)
        throw InvalidArgument(fmt::format("vortices on several ranks are not reinitialised yet; use {}, or "
                                          "start one process",
                                          spelled("reinitialise", name_of(Reinitialise::none))));
    if (integrator != Integrator::rk4)
        throw InvalidArgument(
            fmt::format("time.integrator = \"{}\" moves bodies that have velocities of their "
                        "own; vortices move with the flow: use \"rk4\"",
                        name_of(integrator)));
    if (options.viscosity > 0.0 && !(options.sigma > 0.0))
        throw InvalidArgument(fmt::format(
            "{} spreads the cores of vortices, and points have none: give {} > 0, or leave the viscosity out",
            spelled("viscosity", fmt::format("{}", options.viscosity)), spelled("sigma")));
    if (options.reinitialise != Reinitialise::none && !(options.viscosity > 0.0))
        throw InvalidArgument(fmt::format(
            "{} places vortices anew where viscosity has spread their cores; give {} > 0, or leave it out",
            spelled("reinitialise", name_of(options.reinitialise)), spelled("viscosity")));
    check_plane(bodies);
}

void VortexFlow::set_points(Plan& plan, const std::vector<double>& position, double variance,
                            Precision precision) const {
    const auto points = plane_of(matrix_view(std::span<const double>(position), 3));
    const bool fits = plan.sum && plan.variance == variance && plan.rows == points.shape[0];
    if (fits) return plan.sum->update(points);
    auto options = sum_options_of(options_, settings_, precision);
    options.sigma = std::sqrt(variance);
    plan.sum.emplace(points, options);
    plan.variance = variance;
    plan.rows = points.shape[0];
    SumPlanAccess::leave_comparing_to_caller(*plan.sum);
}

void VortexFlow::velocities(const Bodies& vortices, const std::vector<double>& position, double variance,
                            std::vector<double>& out) {
    check_finite(vortices, position, "position");
    out.assign(position.size(), 0.0);
    try {
        set_points(velocity_plan_, position, variance, options_.precision);
        velocity_plan_.sum->execute(
            std::span<const double>(vortices.charge),
            {.potential = {}, .field = plane_of(matrix_view(std::span<double>(out), 3))},
            {.progress = {}, .stop_requested = stop_requested_});
    } catch (const InvalidArgument& error) {
        if (variance == 0.0) check_places_differ(vortices, position, "sigma");
        throw InvalidArgument(fmt::format("the velocities cannot be computed: {} (row 0 is vortex {})",
                                          error.what(), vortices.id[0]));
    }
    check_finite(vortices, out, "velocity");
    const auto& report = velocity_plan_.sum->report();
    backend_ = {.device = DeviceKind::cpu,
                .isa = report.isa,
                .variant = report.direct.variant,
                .precision = options_.precision};
    pairs_ += static_cast<double>(report.direct.pairs);
    seconds_ += report.prepare_seconds + report.compute_seconds + report.finish_seconds;
}

Diagnostics VortexFlow::invariants(const Bodies& vortices, double variance) {
    const auto n = vortices.size();
    const double* gamma = vortices.charge.data();
    const double* x = vortices.position.data();
    stream_.resize(static_cast<std::size_t>(n));
    set_points(stream_plan_, vortices.position, variance, Precision::float64);
    stream_plan_.sum->execute(std::span<const double>(vortices.charge),
                              {.potential = std::span<double>(stream_), .field = {}},
                              {.progress = {}, .stop_requested = stop_requested_});
    const auto sum = [&](const auto& term) { return pairwise_sum(0, n, term); };
    VortexInvariants out;
    out.circulation = sum([&](std::int64_t i) { return gamma[i]; });
    for (std::int64_t k = 0; k < 2; ++k)
        out.impulse[static_cast<std::size_t>(k)] =
            sum([&](std::int64_t i) { return gamma[i] * x[3 * i + k]; });
    out.angular_impulse = sum([&](std::int64_t i) {
        return gamma[i] * (x[3 * i] * x[3 * i] + x[3 * i + 1] * x[3 * i + 1] + 2.0 * variance);
    });
    const double magnitude = sum([&](std::int64_t i) { return std::abs(gamma[i]); });
    constexpr double four_pi = 12.566370614359172954;
    out.hamiltonian_scale = magnitude * magnitude / four_pi;
    out.sigma = std::sqrt(variance);
    out.count = n;
    Diagnostics row;
    row.total = 0.5 * sum([&](std::int64_t i) { return gamma[i] * stream_[static_cast<std::size_t>(i)]; });
    row.vortices = out;
    return row;
}

ForceErrors VortexFlow::compare(const Bodies& vortices, double variance) const {
    SumProblem problem;
    problem.kernel = &kernel_info(options_.kernel);
    problem.dimension = 2;
    problem.outputs = problem.kernel->output_set();
    problem.sources = problem.targets = vortices.size();
    problem.sigma = std::sqrt(variance);
    problem.tolerance = options_.tolerance;
    const auto points = in_plane(vortices.position);
    const auto velocities = in_plane(vortices.velocity);
    const std::vector<ComputedOutput> computed{{Output::field, velocities}, {Output::potential, stream_}};
    const auto errors = verify({.problem = &problem,
                                .sources = points,
                                .targets = {},
                                .strengths = vortices.charge,
                                .threads = thread_count(options_.threads),
                                .soon = true,
                                .sharing = CommunicatorAccess::transport(options_.communicator)},
                               computed);
    const auto number = [](double error) { return std::isnan(error) ? HUGE_VAL : error; };
    return {.acceleration = number(errors.front().relative), .potential = number(errors.back().relative)};
}

void VortexFlow::renew() {
    velocity_plan_ = {};
    stream_plan_ = {};
}

} // namespace farfield
