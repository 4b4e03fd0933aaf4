#include "dynamics/propagators/host.h"

#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "dynamics/bodies/box.h"
#include "dynamics/bodies/diagnostics.h"
#include "dynamics/forces/tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace farfield {
namespace {

// With fewer bodies a step takes less than a tenth of a second by every method.
constexpr std::int64_t fewest_watched = 4096;

// What a step changes. Arrays keep their places: there are views of them.
void copy_moving(const MotionState& from, MotionState& to) {
    const auto copy = [](const std::vector<double>& source, std::vector<double>& target) {
        target.resize(source.size());
        std::copy(source.begin(), source.end(), target.begin());
    };
    copy(from.bodies.position, to.bodies.position);
    copy(from.bodies.velocity, to.bodies.velocity);
    copy(from.acceleration, to.acceleration);
    copy(from.jerk, to.jerk);
    to.timescale = from.timescale;
}

} // namespace

Diagnostics diagnostics_of(const Bodies& bodies, const CheckedEnergy& energy, const ForceOptions& force) {
    auto row = compute_diagnostics(bodies, 0.0, energy.potential_energy, is_periodic(force.period),
                                   thread_count(force.threads));
    row.acceleration_error = energy.errors.acceleration;
    row.potential_error = energy.errors.potential;
    return row;
}

HostPropagator::HostPropagator(const PropagatorOptions& options, const ForceOptions& force,
                               MotionState& motion, std::string note, const BodyRows& rows)
    : scheme_(descriptor_of(options.integrator)), motion_(motion), forces_(force, motion.force, rows) {
    if (!note.empty()) notes_.push_back(std::move(note));
    if (options.force.method == Method::automatic)
        notes_.push_back(fmt::format("{} takes '{}': {}", spelled("method", name_of(Method::automatic)),
                                     name_of(motion.force.method), motion.force.reason));
    if (scheme_.uses_jerk && force.precision != Precision::float64)
        notes_.push_back(fmt::format("{} computes accelerations and jerks in double; {} is not used",
                                     scheme_.name, spelled("precision", name_of(force.precision))));
    wrap(motion_.bodies.position, force.period);
    watch(options.stop_requested);
    scheme_.start(motion_, forces_);
    if (!options.continues && force.tolerance > 0.0) checked_energy();
    watch({});
}

void HostPropagator::watch(const std::function<bool()>& stop_requested) {
    if (forces_.all_bodies(motion_.bodies) < fewest_watched) return;
    stop_requested_ = stop_requested;
    forces_.watch(stop_requested);
}

// Positions are kept in a periodic box, not only shown there: bodies that travel on would lose digits of
// their places, and every reader of the bodies finds the same ones. Wrapping costs at most a rounding of the
// length, and forces do not see it (Forces::set_points): neither bits nor energies of a run depend on where
// it was stopped.
void HostPropagator::move(double length) {
    scheme_.step(motion_, forces_, length);
    wrap(motion_.bodies.position, forces_.options().period);
}

void HostPropagator::step(double length) {
    last_length_.reset();
    if (!forces_.is_watched() && forces_.options().tolerance == 0.0) return move(length);
    copy_moving(motion_, before_);
    try {
        move(length);
    } catch (const Interrupted&) {
        copy_moving(before_, motion_);
        throw;
    }
    last_length_ = length;
}

// To the end, whoever asks to stop: a step half taken would belong to no time.
void HostPropagator::take_last_step_again() {
    forces_.watch({});
    if (last_length_) {
        copy_moving(before_, motion_);
        move(*last_length_);
    } else {
        scheme_.start(motion_, forces_);
    }
    forces_.watch(stop_requested_);
}

CheckedEnergy HostPropagator::checked_energy() {
    CheckedEnergy found;
    keep_tolerance(forces_.options(), motion_.force,
                   {.compare =
                        [&] {
                            found = forces_.energy(motion_.bodies, motion_.acceleration);
                            return found.errors;
                        },
                    .compute_again =
                        [&] {
                            forces_.renew();
                            take_last_step_again();
                        },
                    .after_steps = last_length_.has_value()});
    return found;
}

void HostPropagator::advance(const Steps& steps) {
    take_steps(steps, [this](double length) { step(length); });
}

std::optional<Diagnostics> HostPropagator::fetch() {
    if (!with_diagnostics_) return std::nullopt;
    return diagnostics_of(motion_.bodies, checked_energy(), forces_.options());
}

} // namespace farfield
