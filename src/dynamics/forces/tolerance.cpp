#include "dynamics/forces/tolerance.h"

#include "base/spelling.h"
#include "dynamics/bodies/box.h"
#include "sums/method/method.h"
#include "sums/method/refining.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace farfield {
namespace {

SumProblem problem_of(const ForceOptions& force) {
    SumProblem problem;
    problem.kernel = &kernel_info(force.kernel);
    problem.period = force.period;
    problem.boundary = force.boundary;
    problem.background = force.background;
    problem.tolerance = force.tolerance;
    return problem;
}

// Sums in periodic boxes have no order to raise. They keep most tolerances at once, and aim at less than the
// tolerance where they do not.
bool aim_lower(const ForceOptions& force, ForceSettings& settings, double error) {
    const double before = settings.aim > 0.0 ? settings.aim : force.tolerance;
    auto trial = settings;
    trial.aim = before / refinement(error, force.tolerance);
    auto problem = problem_of(force);
    problem.tolerance = trial.aim;
    const auto options = sum_options_of(force, trial, force.precision);
    if (!why_not(method_info(settings.method), problem, options, options.device).empty()) return false;
    settings.aim = trial.aim;
    return true;
}

// Goes on to settings that may bring `error` down to the tolerance; false where there are none.
bool sharpen(const ForceOptions& force, ForceSettings& settings, double error) {
    auto* const change = method_info(settings.method).sharpen;
    if (change == nullptr && is_periodic(force.period) && method_info(settings.method).approximates)
        return aim_lower(force, settings, error);
    if (change == nullptr || force.order > 0) return false;
    const auto problem = problem_of(force);
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
