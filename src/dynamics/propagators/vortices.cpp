#include "dynamics/propagators/vortices.h"

#include "base/spelling.h"
#include "dynamics/forces/checks.h"
#include "dynamics/forces/tolerance.h"
#include "dynamics/vorticity/reinitialise.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace farfield {
namespace {

constexpr std::int64_t fewest_watched_vortices = 4096; // fewer take less than a tenth of a second a step

std::vector<double> moved_by(const std::vector<double>& from, double length,
                             const std::vector<double>& rate) {
    std::vector<double> out(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) out[i] = from[i] + length * rate[i];
    return out;
}

} // namespace

VortexPropagator::VortexPropagator(const PropagatorOptions& options, const ForceOptions& force,
                                   MotionState& motion)
    : motion_(motion), flow_(force, motion.force) {
    if (options.force.method == Method::automatic)
        notes_.push_back(fmt::format("{} takes '{}': {}", spelled("method", name_of(Method::automatic)),
                                     name_of(motion.force.method), motion.force.reason));
    watch(options.stop_requested);
    evaluate();
    if (!options.continues && force.tolerance > 0.0) (void)checked_invariants();
    watch({});
}

void VortexPropagator::watch(const std::function<bool()>& stop_requested) {
    if (motion_.bodies.size() < fewest_watched_vortices) return;
    stop_requested_ = stop_requested;
    flow_.watch(stop_requested);
}

VortexPropagator::Moving VortexPropagator::moving() const {
    return {motion_.bodies, motion_.core_variance, motion_.reinitialised};
}

// Arrays keep their places: there are views of them.
void VortexPropagator::move_to(const std::vector<double>& position, const std::vector<double>& velocity,
                               double variance) {
    std::copy(position.begin(), position.end(), motion_.bodies.position.begin());
    std::copy(velocity.begin(), velocity.end(), motion_.bodies.velocity.begin());
    motion_.core_variance = variance;
}

void VortexPropagator::replace_by(Moving moving) {
    if (moving.reinitialised.count == motion_.reinitialised.count)
        return move_to(moving.vortices.position, moving.vortices.velocity, moving.variance);
    motion_.bodies = std::move(moving.vortices);
    motion_.core_variance = moving.variance;
    motion_.reinitialised = moving.reinitialised;
}

void VortexPropagator::evaluate() {
    std::vector<double> velocity;
    flow_.velocities(motion_.bodies, motion_.bodies.position, motion_.core_variance, velocity);
    move_to(motion_.bodies.position, velocity, motion_.core_variance);
}

std::vector<double> VortexPropagator::positions_after(double length) {
    const auto& vortices = motion_.bodies;
    const auto& x = vortices.position;
    const auto& first = vortices.velocity;
    const double spread = flow_.options().viscosity * length; // of σ² in half the step
    const double middle = motion_.core_variance + spread;
    std::vector<double> second, third, fourth;
    flow_.velocities(vortices, moved_by(x, 0.5 * length, first), middle, second);
    flow_.velocities(vortices, moved_by(x, 0.5 * length, second), middle, third);
    flow_.velocities(vortices, moved_by(x, length, third), middle + spread, fourth);
    auto end = x;
    for (std::size_t i = 0; i < x.size(); ++i)
        end[i] += length / 6.0 * ((first[i] + fourth[i]) + 2.0 * (second[i] + third[i]));
    return end;
}

VortexPropagator::Moving VortexPropagator::placed_anew(const std::vector<double>& position, double variance) {
    check_finite(motion_.bodies, position, "position");
    Moving out{.vortices = {},
               .variance = flow_.options().sigma * flow_.options().sigma,
               .reinitialised = motion_.reinitialised};
    out.vortices = reinitialised({motion_.bodies, position, variance}, flow_.options(), stop_requested_,
                                 out.reinitialised);
    flow_.velocities(out.vortices, out.vortices.position, out.variance, out.vortices.velocity);
    return out;
}

// The velocity at the end is the first stage of the next step. Nothing has changed where a stage is given up.
void VortexPropagator::step(double length) {
    const double spread = flow_.options().viscosity * length; // of σ² in half the step
    const double variance = motion_.core_variance + spread + spread;
    const auto position = positions_after(length);
    std::optional<Moving> anew;
    std::vector<double> velocity;
    if (needs_reinitialising(flow_.options(), variance))
        anew = placed_anew(position, variance);
    else
        flow_.velocities(motion_.bodies, position, variance, velocity);
    if (flow_.options().tolerance > 0.0) last_step_ = {moving(), length};
    if (anew)
        replace_by(std::move(*anew));
    else
        move_to(position, velocity, variance);
}

void VortexPropagator::advance(const Steps& steps) {
    take_steps(steps, [this](double length) { step(length); });
}

// To the end, whoever asks to stop: a step half taken would belong to no time.
void VortexPropagator::take_last_step_again() {
    const auto stop_requested = std::exchange(stop_requested_, {});
    flow_.watch({});
    const auto listen = [&] {
        stop_requested_ = stop_requested;
        flow_.watch(stop_requested_);
    };
    const auto after = moving();
    try {
        if (last_step_) {
            const double length = last_step_->length;
            replace_by(last_step_->before);
            step(length);
        } else {
            evaluate();
        }
    } catch (...) { // of the time that the clock shows, and to be stopped, for whoever goes on
        replace_by(after);
        listen();
        throw;
    }
    listen();
}

Diagnostics VortexPropagator::checked_invariants() {
    Diagnostics found;
    const auto errors =
        keep_tolerance(flow_.options(), motion_.force,
                       {.compare =
                            [&] {
                                found = flow_.invariants(motion_.bodies, motion_.core_variance);
                                return flow_.options().tolerance > 0.0
                                           ? flow_.compare(motion_.bodies, motion_.core_variance)
                                           : ForceErrors{};
                            },
                        .compute_again =
                            [&] {
                                flow_.renew();
                                take_last_step_again();
                            },
                        .after_steps = last_step_.has_value()});
    found.vortices->reinitialisations = motion_.reinitialised.count;
    found.vortices->residual = motion_.reinitialised.residual;
    found.vortices->vorticity_error = motion_.reinitialised.vorticity_error;
    found.acceleration_error = errors.acceleration;
    found.potential_error = errors.potential;
    return found;
}

std::optional<Diagnostics> VortexPropagator::fetch() {
    if (!with_diagnostics_) return std::nullopt;
    return checked_invariants();
}

} // namespace farfield
