// A build without CUDA: no bodies on GPUs.
#include "backend/cuda/devices.h"
#include "dynamics/cuda/device_motion.h"

#include <farfield/error.h>

namespace farfield::cuda {

struct DeviceMotion::Impl {};

DeviceMotion::DeviceMotion(const MotionSetup& /*setup*/, const Bodies& /*bodies*/) {
    throw BackendUnavailable(why_no_device());
}
DeviceMotion::DeviceMotion(DeviceMotion&&) noexcept = default;
DeviceMotion& DeviceMotion::operator=(DeviceMotion&&) noexcept = default;
DeviceMotion::~DeviceMotion() = default;
void DeviceMotion::advance(std::uint64_t /*steps*/, double /*dt*/) {}
void DeviceMotion::capture(bool /*diagnostics*/) {}
const CapturedState& DeviceMotion::captured() { throw BackendUnavailable(why_no_device()); }
void DeviceMotion::synchronize() {}
void DeviceMotion::take_again(const SumOptions& /*sums*/) {}
std::optional<std::uint64_t> DeviceMotion::failure() const { return std::nullopt; }
std::string DeviceMotion::refusal() const { return {}; }
StepPath DeviceMotion::path() const { return StepPath::automatic; }
Variant DeviceMotion::variant() const { return Variant::automatic; }
std::uint64_t DeviceMotion::evaluations() const { return 0; }
double DeviceMotion::seconds() const { return 0.0; }
double DeviceMotion::seconds_per_step() const { return 0.0; }
double DeviceMotion::time_steps(std::uint64_t /*steps*/, double /*dt*/) { return 0.0; }
double DeviceMotion::sum_milliseconds() { return 0.0; }

} // namespace farfield::cuda
