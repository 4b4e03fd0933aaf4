// The one place that chooses between propagators.
#include "backend/comm/communicator_access.h"
#include "base/spelling.h"
#include "dynamics/bodies/box.h"
#include "dynamics/forces/checks.h"
#include "dynamics/forces/method_support.h"
#include "dynamics/propagators/device_choice.h"
#include "dynamics/propagators/host.h"
#include "dynamics/propagators/method_choice.h"
#include "dynamics/propagators/own_bodies.h"
#include "dynamics/propagators/periodic_boxes.h"
#include "dynamics/propagators/propagator.h"
#include "dynamics/propagators/resident.h"
#include "dynamics/propagators/vortices.h"
#include "sums/method/method.h"
#include "sums/points/float_range.h"
#include "sums/select/choice.h"

#include <fmt/format.h>

namespace farfield {

namespace {

void check_integrator(const ForceOptions& force, Integrator integrator) {
    if (!descriptor_of(integrator).uses_jerk) return;
    check_jerk(force.method, integrator);
    if (force.tolerance > 0.0)
        throw InvalidArgument(fmt::format("time.integrator = \"{}\" computes every pair in double and "
                                          "compares nothing; leave {} out, or use "
                                          "\"yoshida4\" or \"leapfrog\"",
                                          name_of(integrator),
                                          spelled("tolerance", fmt::format("{:g}", force.tolerance))));
}

Precision chosen_precision(const ForceOptions& force, Integrator integrator) {
    if (descriptor_of(integrator).uses_jerk) return Precision::float64;
    return is_periodic(force.period) ? precision_in_box(force) : usual_precision(force.tolerance);
}

// All ranks have all bodies, and of a sum want all results.
ForceOptions of_all_bodies(ForceOptions force) {
    force.communicator = CommunicatorAccess::with_everything(force.communicator);
    return force;
}

// Each rank moves bodies of its own where its sums take each rank's points.
bool divides_bodies(const ForceOptions& force, Integrator integrator, const MotionState& motion) {
    auto* const takes_own_points = method_info(force.method).takes_own_points;
    if (CommunicatorAccess::transport(force.communicator) == nullptr || takes_own_points == nullptr)
        return false;
    if (descriptor_of(integrator).uses_jerk) return false;
    const auto sums = sum_options_of(force, motion.force, force.precision);
    return takes_own_points(problem_of_bodies(sums, motion.bodies), sums, {.kind = DeviceKind::cpu});
}

std::unique_ptr<Propagator> make_on_host(const PropagatorOptions& options, ForceOptions force,
                                         MotionState& motion, const std::string& note) {
    if (!options.releases || !divides_bodies(force, options.integrator, motion))
        return std::make_unique<HostPropagator>(options, force, motion, note);
    force.communicator = options.force.communicator;
    return std::make_unique<OwnBodiesPropagator>(options, force, motion, note);
}

std::unique_ptr<Propagator> make_vortices(const PropagatorOptions& options, MotionState& motion) {
    auto force = of_all_bodies(options.force);
    check_vortices(force, options.integrator, motion.bodies);
    force.device = {.kind = DeviceKind::cpu};
    if (force.precision == Precision::automatic) force.precision = usual_precision(force.tolerance);
    if (!motion.force.is_settled())
        motion.force = settle_force(force, options.integrator, motion.bodies, options.steps);
    force.method = motion.force.method;
    return std::make_unique<VortexPropagator>(options, force, motion);
}

} // namespace

std::unique_ptr<Propagator> make_propagator(const PropagatorOptions& options, MotionState& motion) {
    if (kernel_info(options.force.kernel).moves_vortices()) return make_vortices(options, motion);
    auto force = of_all_bodies(options.force);
    check_period(force, options.integrator);
    if (force.precision == Precision::automatic)
        force.precision = chosen_precision(force, options.integrator);
    check_force(force, motion.bodies);
    if (!motion.force.is_settled())
        motion.force = settle_force(force, options.integrator, motion.bodies, options.steps);
    force.method = motion.force.method;
    check_integrator(force, options.integrator);
    const auto place = choose_run_device(force, options.integrator, motion.bodies.size(), options.steps);
    if (place.kind == DeviceKind::cpu) return make_on_host(options, force, motion, place.note);
    check_strengths(force, motion.bodies);
    wrap(motion.bodies.position, force.period); // as HostPropagator does
    // others choose one for each sum
    const bool keeps_frame = !method_info(force.method).approximates && !is_periodic(force.period);
    if (!options.continues || !keeps_frame)
        motion.frame = choose_frame(motion.bodies.position, {}, force.softening);
    require_float_range(motion.bodies.position, {}, motion.frame, force.softening, force.precision);
    return std::make_unique<ResidentPropagator>(options, force, motion, place.gpus);
}

InvalidArgument error_in_step(std::uint64_t step, double time, std::string_view what) {
    return InvalidArgument(fmt::format("step {} from t = {}: {}", step, time, what));
}

} // namespace farfield
