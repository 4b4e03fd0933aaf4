#include "dynamics/forces/tolerance.h"

#include "base/spelling.h"
#include "sums/method/method.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace farfield {
namespace {

// Goes on to settings that may bring `error` down to the tolerance; false where there are none.
bool sharpen(const ForceOptions& force, ForceSettings& settings, double error) {
    auto* const change = method_info(settings.method).sharpen;
    if (change == nullptr || force.order > 0) return false;
    SumProblem problem;
    problem.kernel = &kernel_info(force.kernel);
    problem.tolerance = force.tolerance;
    auto options = sum_options_of(force, settings, force.precision);
    if (!change(problem, options, error)) return false;
    settings.order = options.order;
    return true;
}

[[noreturn]] void refuse(const ForceOptions& force, const ForceSettings& settings,
                         const ForceErrors& errors) {
    const bool by_potential = !(errors.acceleration > force.tolerance);
    const bool vortices = kernel_info(force.kernel).moves_vortices();
    const auto* potentials = vortices ? "stream function" : "potentials";
    const auto* accelerations = vortices ? "velocities" : "accelerations";
    throw ToleranceNotReached(fmt::format(
        "the relative error of the {} is {:.2g}, above {}; method '{}'{} in precision '{}' does no better "
        "here: {} a larger tolerance",
        by_potential ? potentials : accelerations, by_potential ? errors.potential : errors.acceleration,
        spelled("tolerance", fmt::format("{:g}", force.tolerance)), name_of(settings.method),
        settings.order > 0 ? fmt::format(" of order {}", settings.order) : "", name_of(force.precision),
        tolerance_remedy(force.order, force.precision)));
}

} // namespace

ForceErrors keep_tolerance(const ForceOptions& force, ForceSettings& settings, const ComparedForces& forces) {
    for (;;) {
        const auto errors = forces.compare();
        if (force.tolerance == 0.0) return errors;
        const bool kept = errors.largest() <= force.tolerance;
        if (kept || forces.after_steps) {
            // a potential that was not compared has no number for an error
            settings.worst_acceleration_error =
                std::max(settings.worst_acceleration_error, errors.acceleration);
            settings.worst_potential_error = std::max(settings.worst_potential_error, errors.potential);
        }
        if (kept) return errors;
        if (!sharpen(force, settings, errors.largest())) refuse(force, settings, errors);
        forces.compute_again();
    }
}

} // namespace farfield
