#include "dynamics/propagators/vortices.h"

#include "base/spelling.h"
#include "dynamics/forces/tolerance.h"

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
    auto start = moving();
    flow_.velocities(motion_.bodies, start.position, start.variance, start.velocity);
    set(start);
    if (!options.continues && force.tolerance > 0.0) (void)checked_invariants();
    watch({});
}

void VortexPropagator::watch(const std::function<bool()>& stop_requested) {
    if (motion_.bodies.size() < fewest_watched_vortices) return;
    stop_requested_ = stop_requested;
    flow_.watch(stop_requested);
}

VortexPropagator::Moving VortexPropagator::moving() const {
    return {motion_.bodies.position, motion_.bodies.velocity, motion_.core_variance};
}

// Arrays keep their places: there are views of them.
void VortexPropagator::set(const Moving& moving) {
    std::copy(moving.position.begin(), moving.position.end(), motion_.bodies.position.begin());
    std::copy(moving.velocity.begin(), moving.velocity.end(), motion_.bodies.velocity.begin());
    motion_.core_variance = moving.variance;
}

// The velocity at the end is the first stage of the next step. Nothing has changed where a stage is given up.
void VortexPropagator::step(double length) {
    const auto& vortices = motion_.bodies;
    const auto& x = vortices.position;
    const auto& first = vortices.velocity;
    const double spread = flow_.options().viscosity * length; // of σ² in half the step
    const double middle = motion_.core_variance + spread;
    std::vector<double> second, third, fourth;
    flow_.velocities(vortices, moved_by(x, 0.5 * length, first), middle, second);
    flow_.velocities(vortices, moved_by(x, 0.5 * length, second), middle, third);
    Moving end{.position = x, .velocity = {}, .variance = middle + spread};
    flow_.velocities(vortices, moved_by(x, length, third), end.variance, fourth);
    for (std::size_t i = 0; i < x.size(); ++i)
        end.position[i] += length / 6.0 * ((first[i] + fourth[i]) + 2.0 * (second[i] + third[i]));
    flow_.velocities(vortices, end.position, end.variance, end.velocity);
    if (flow_.options().tolerance > 0.0) {
        before_ = moving();
        last_length_ = length;
    }
    set(end);
}

void VortexPropagator::advance(const Steps& steps) {
    take_steps(steps, [this](double length) { step(length); });
}

// To the end, whoever asks to stop: a step half taken would belong to no time.
void VortexPropagator::take_last_step_again() {
    flow_.watch({});
    if (last_length_) {
        set(before_);
        step(*last_length_);
    } else {
        auto start = moving();
        flow_.velocities(motion_.bodies, start.position, start.variance, start.velocity);
        set(start);
    }
    flow_.watch(stop_requested_);
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
                        .after_steps = last_length_.has_value()});
    found.acceleration_error = errors.acceleration;
    found.potential_error = errors.potential;
    return found;
}

std::optional<Diagnostics> VortexPropagator::fetch() {
    if (!with_diagnostics_) return std::nullopt;
    return checked_invariants();
}

} // namespace farfield
