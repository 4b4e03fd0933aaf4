#include "dynamics/propagators/host.h"

#include "dynamics/bodies/diagnostics.h"

#include <fmt/format.h>

#include <utility>

namespace farfield {

HostPropagator::HostPropagator(const ForceOptions& force, Integrator integrator, MotionState& motion,
                               std::string note)
    : scheme_(descriptor_of(integrator)), motion_(motion), forces_(force) {
    if (!note.empty()) notes_.push_back(std::move(note));
    if (scheme_.uses_jerk && force.precision != Precision::float64)
        notes_.push_back(
            fmt::format("{} computes accelerations and jerks in double; force.precision = \"{}\" is not used",
                        scheme_.name, name_of(force.precision)));
    scheme_.start(motion_, forces_);
}

void HostPropagator::advance(const Steps& steps) {
    for (std::uint64_t k = 0; k < steps.count; ++k) {
        try {
            scheme_.step(motion_, forces_, steps.length);
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
