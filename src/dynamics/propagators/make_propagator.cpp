// The one place that chooses between propagators.
#include "dynamics/forces/checks.h"
#include "dynamics/forces/method_support.h"
#include "dynamics/propagators/device_choice.h"
#include "dynamics/propagators/host.h"
#include "dynamics/propagators/propagator.h"
#include "dynamics/propagators/resident.h"
#include "sums/points/float_range.h"

#include <fmt/format.h>

namespace farfield {

std::unique_ptr<Propagator> make_propagator(const PropagatorOptions& options, MotionState& motion) {
    const auto& force = options.force;
    check_force(force, motion.bodies);
    if (descriptor_of(options.integrator).uses_jerk) check_jerk(force.method, options.integrator);
    const auto place = choose_run_device(force, options.integrator, motion.bodies.size(), options.steps);
    if (place.kind == DeviceKind::cpu)
        return std::make_unique<HostPropagator>(force, options.integrator, motion, place.note,
                                                options.stop_requested);
    if (!options.frame_is_known) motion.frame = choose_frame(motion.bodies.position, {}, force.softening);
    require_float_range(motion.bodies.position, {}, motion.frame, force.softening, force.precision);
    return std::make_unique<ResidentPropagator>(force, options.integrator, motion, place.gpus);
}

InvalidArgument error_in_step(std::uint64_t step, double time, std::string_view what) {
    return InvalidArgument(fmt::format("step {} from t = {}: {}", step, time, what));
}

} // namespace farfield
