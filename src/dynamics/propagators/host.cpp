#include "dynamics/propagators/host.h"

#include "base/spelling.h"
#include "dynamics/bodies/diagnostics.h"

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

HostPropagator::HostPropagator(const ForceOptions& force, Integrator integrator, MotionState& motion,
                               std::string note, const std::function<bool()>& stop_requested)
    : scheme_(descriptor_of(integrator)), motion_(motion), forces_(force) {
    if (!note.empty()) notes_.push_back(std::move(note));
    if (scheme_.uses_jerk && force.precision != Precision::float64)
        notes_.push_back(fmt::format("{} computes accelerations and jerks in double; {} is not used",
                                     scheme_.name, spelled("precision", name_of(force.precision))));
    watch(stop_requested);
    scheme_.start(motion_, forces_);
    watch({});
}

void HostPropagator::watch(const std::function<bool()>& stop_requested) {
    if (motion_.bodies.size() < fewest_watched) return;
    forces_.watch(stop_requested);
}

void HostPropagator::step(double length) {
    if (!forces_.is_watched()) return scheme_.step(motion_, forces_, length);
    copy_moving(motion_, before_);
    try {
        scheme_.step(motion_, forces_, length);
    } catch (const Interrupted&) {
        copy_moving(before_, motion_);
        throw;
    }
}

void HostPropagator::advance(const Steps& steps) {
    for (std::uint64_t k = 0; k < steps.count; ++k) {
        try {
            step(steps.length);
        } catch (const InvalidArgument& error) {
            throw error_in_step(steps.before + k + 1, steps.start + static_cast<double>(k) * steps.length,
                                error.what());
        }
    }
}

std::optional<Diagnostics> HostPropagator::fetch() {
    if (!with_diagnostics_) return std::nullopt;
    return compute_diagnostics(motion_.bodies, 0.0, forces_.potential_energy(motion_.bodies));
}

} // namespace farfield
