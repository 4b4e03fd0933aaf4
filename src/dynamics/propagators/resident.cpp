#include "dynamics/propagators/resident.h"

#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "dynamics/bodies/box.h"
#include "dynamics/bodies/diagnostics.h"
#include "dynamics/bodies/radii.h"
#include "dynamics/forces/checks.h"
#include "dynamics/forces/tolerance.h"
#include "dynamics/integrators/motion_formulas.h"
#include "sums/method/method.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace farfield {
namespace {

// Steps queued in one go: long enough for nothing to be lost between them, short enough for Ctrl-C.
constexpr double batch_seconds = 0.05;
constexpr double longest_batch = 5.0; // also while files are written
constexpr double largest_batch = 262144.0;

std::vector<double> leapfrogs_of(Integrator integrator) {
    if (integrator == Integrator::yoshida4) return {yoshida_outer, yoshida_inner, yoshida_outer};
    return {1.0};
}

bool computes_every_pair(const ForceOptions& force) {
    return !method_info(force.method).approximates && !is_periodic(force.period);
}

cuda::MotionSetup setup_of(const ForceOptions& force, Integrator integrator, const MotionState& motion,
                           const std::vector<int>& gpus) {
    cuda::MotionSetup setup;
    setup.devices = gpus;
    setup.multi_gpu = force.multi_gpu;
    setup.exchange = force.exchange;
    setup.mpi_gpu = force.mpi_gpu;
    setup.kernel = force.kernel;
    setup.G = force.G;
    setup.softening = force.softening;
    setup.precision = force.precision;
    setup.variant = force.variant;
    setup.substeps = leapfrogs_of(integrator);
    setup.frame = motion.frame;
    if (computes_every_pair(force)) {
        setup.ranks = CommunicatorAccess::transport(force.communicator);
        return setup;
    }
    setup.variant = Variant::automatic; // that of sums is theirs
    setup.sums = sum_options_of(force, motion.force, force.precision);
    setup.compares = force.tolerance > 0.0;
    return setup;
}

void copy_to(std::vector<double>& to, std::span<const double> from) {
    to.resize(from.size()); // the first time only: views of the bodies stay valid
    std::copy(from.begin(), from.end(), to.begin());
}

} // namespace

ResidentPropagator::ResidentPropagator(const PropagatorOptions& options, const ForceOptions& force,
                                       MotionState& motion, const std::vector<int>& gpus)
    : device_(setup_of(force, options.integrator, motion, gpus), motion.bodies), motion_(motion),
      force_(force), computes_every_pair_(computes_every_pair(force)),
      evaluations_a_step_(leapfrogs_of(options.integrator).size()),
      bodies_(static_cast<double>(motion.bodies.size())) {
    const bool compares = !options.continues && force.tolerance > 0.0;
    ResidentPropagator::capture(compares && !computes_every_pair_);
    bring();
    if (compares) (void)compared();
}

void ResidentPropagator::advance(const Steps& steps) {
    if (steps.count == 0) return;
    if (!first_) first_ = steps;
    device_.advance(steps.count, steps.length);
    queued_ += steps.count;
    if (const auto failure = device_.failure()) refuse(*failure);
}

void ResidentPropagator::capture(bool diagnostics) {
    device_.capture(diagnostics);
    captured_ = queued_;
    with_diagnostics_ = diagnostics;
}

std::optional<Diagnostics> ResidentPropagator::fetch() {
    bring();
    if (!with_diagnostics_) return std::nullopt;
    const auto errors = compared();
    auto row = diagnostics_of(device_.captured());
    row.acceleration_error = errors.acceleration;
    row.potential_error = errors.potential;
    return row;
}

const cuda::CapturedState& ResidentPropagator::bring() {
    const auto& captured = device_.captured();
    if (captured.failure) refuse(*captured.failure);
    copy_to_motion(captured);
    motion_.frame = captured.frame;
    fetched_ = captured_;
    return captured;
}

void ResidentPropagator::update_motion() {
    if (fetched_ == queued_) return;
    capture(false);
    fetch();
}

std::uint64_t ResidentPropagator::batch(double seconds) const {
    const double worth = std::clamp(seconds, batch_seconds, longest_batch) / seconds_per_step();
    return static_cast<std::uint64_t>(std::clamp(worth, 1.0, largest_batch));
}

ForceBackend ResidentPropagator::backend() const {
    return {.device = DeviceKind::cuda,
            .isa = Isa::automatic,
            .variant = device_.variant(),
            .precision = force_.precision};
}

double ResidentPropagator::pairs() const {
    return static_cast<double>(device_.evaluations()) * bodies_ * (bodies_ - 1.0);
}

// Of the last steps measured, a guess before any were.
double ResidentPropagator::seconds_per_step() const {
    constexpr double rate = 1e12; // pairs a second, of a fast GPU
    const double measured = device_.seconds_per_step();
    if (measured > 0.0) return measured;
    const double guess = computes_every_pair_ ? 1e-5 + bodies_ * bodies_ / rate : 2e-3 + 1e-8 * bodies_;
    return static_cast<double>(evaluations_a_step_) * guess;
}

Diagnostics ResidentPropagator::diagnostics_of(const cuda::CapturedState& captured) const {
    Diagnostics row;
    row.kinetic = captured.kinetic;
    row.potential = captured.potential;
    row.total = row.kinetic + row.potential;
    row.momentum = captured.momentum;
    row.virial_ratio = virial_ratio(row.kinetic, row.potential, is_periodic(force_.period));
    if (is_periodic(force_.period)) { // as compute_diagnostics
        row.angular_momentum.fill(std::nan(""));
        row.lagrangian_radii.fill(std::nan(""));
        return row;
    }
    row.angular_momentum = captured.angular_momentum;
    row.lagrangian_radii = lagrangian_radii(motion_.bodies, thread_count(force_.threads));
    return row;
}

// Of the state fetched last. Potentials of every pair stay on the GPU: there is nothing to raise.
ForceErrors ResidentPropagator::compared() {
    const auto compare = [&]() -> ForceErrors {
        if (force_.tolerance == 0.0) return {};
        return compare_forces(force_, motion_.bodies, motion_.acceleration, device_.captured().potentials);
    };
    const auto compute_again = [&] {
        device_.take_again(sum_options_of(force_, motion_.force, force_.precision));
        device_.capture(true);
        bring();
    };
    return keep_tolerance(force_, motion_.force,
                          {.compare = compare, .compute_again = compute_again, .after_steps = captured_ > 0});
}

void ResidentPropagator::copy_to_motion(const cuda::CapturedState& captured) {
    copy_to(motion_.bodies.position, captured.position);
    copy_to(motion_.bodies.velocity, captured.velocity);
    copy_to(motion_.acceleration, captured.acceleration);
}

// Bodies whose accelerations are not finite have stayed where they were: the first failure can still be seen.
void ResidentPropagator::refuse(std::uint64_t evaluation) {
    device_.capture(false);
    copy_to_motion(device_.captured());
    try {
        if (const auto reason = device_.refusal(); !reason.empty()) { // as Forces::accelerations
            check_finite(motion_.bodies, motion_.bodies.position, "position");
            check_places_differ(motion_.bodies, motion_.bodies.position);
            throw InvalidArgument(fmt::format("the accelerations cannot be computed: {} (row 0 is body {})",
                                              reason, motion_.bodies.id[0]));
        }
        refuse_not_finite(motion_.bodies, motion_.bodies.position, motion_.acceleration);
    } catch (const InvalidArgument& error) {
        if (evaluation <= 1 || !first_) throw;
        const std::uint64_t steps = (evaluation - 2) / evaluations_a_step_;
        throw error_in_step(first_->before + steps + 1,
                            first_->start + static_cast<double>(steps) * first_->length, error.what());
    }
}

} // namespace farfield
