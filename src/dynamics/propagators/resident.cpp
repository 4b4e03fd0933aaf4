#include "dynamics/propagators/resident.h"

#include "dynamics/integrators/motion_formulas.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace farfield {
namespace {

std::vector<double> leapfrogs_of(Integrator integrator) {
    if (integrator == Integrator::yoshida4) return {yoshida_outer, yoshida_inner, yoshida_outer};
    return {1.0};
}

cuda::MotionSetup setup_of(const Place& place, const ForceOptions& force, Integrator integrator,
                           const Frame& frame) {
    cuda::MotionSetup setup;
    setup.devices = place.gpus;
    setup.multi_gpu = force.multi_gpu;
    setup.exchange = force.exchange;
    setup.kernel = force.kernel;
    setup.G = force.G;
    setup.softening = force.softening;
    setup.precision = force.precision;
    setup.substeps = leapfrogs_of(integrator);
    setup.frame = frame;
    return setup;
}

void copy_to(std::vector<double>& to, std::span<const double> from) {
    to.resize(from.size()); // the first time only: views of the bodies stay valid
    std::copy(from.begin(), from.end(), to.begin());
}

void copy_moment(const cuda::Moment& moment, MotionState& motion) {
    copy_to(motion.bodies.position, moment.position);
    copy_to(motion.bodies.velocity, moment.velocity);
    copy_to(motion.acceleration, moment.acceleration);
}

} // namespace

GpuSide::GpuSide(const Place& place, const ForceOptions& force, Integrator integrator, MotionState& motion,
                 const Frame& frame)
    : motion_(setup_of(place, force, integrator, frame), motion.bodies), precision_(force.precision),
      evaluations_a_step_(leapfrogs_of(integrator).size()),
      bodies_(static_cast<double>(motion.bodies.size())) {
    capture(false);
    fetch(motion);
}

const cuda::Moment& GpuSide::fetch(MotionState& motion) {
    const auto& moment = motion_.moment();
    if (moment.failure) refuse(*moment.failure, motion);
    copy_moment(moment, motion);
    return moment;
}

void GpuSide::check(MotionState& motion) {
    if (const auto failure = motion_.failure()) refuse(*failure, motion);
}

ForceBackend GpuSide::backend() const {
    return {.device = DeviceKind::cuda,
            .isa = Isa::automatic,
            .variant = motion_.variant(),
            .precision = precision_};
}

double GpuSide::pairs() const {
    return static_cast<double>(motion_.evaluations()) * bodies_ * (bodies_ - 1.0);
}

double GpuSide::seconds_per_step() const {
    constexpr double rate = 1e12; // pairs a second, of a fast GPU
    constexpr double fixed = 1e-5;
    const double measured = motion_.seconds_per_step();
    return measured > 0.0 ? measured
                          : static_cast<double>(evaluations_a_step_) * (fixed + bodies_ * bodies_ / rate);
}

// Bodies whose accelerations are not finite have stayed where they were: the first failure can still be seen.
void GpuSide::refuse(std::uint64_t evaluation, MotionState& motion) {
    motion_.capture(false);
    copy_moment(motion_.moment(), motion);
    try {
        Forces::refuse(motion.bodies, motion.bodies.position, motion.acceleration);
    } catch (const InvalidArgument& error) {
        if (evaluation <= 1) throw;
        const std::uint64_t steps = (evaluation - 2) / evaluations_a_step_;
        throw InvalidArgument(fmt::format("step {} from t = {}: {}", first_step_ + steps + 1,
                                          first_time_ + static_cast<double>(steps) * length_, error.what()));
    }
}

} // namespace farfield
