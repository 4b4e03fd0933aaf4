// A build without CUDA: the functions of device_sum.h say so.
#include "backend/cuda/devices.h"
#include "sums/direct/cuda/device_sum.h"

#include <farfield/error.h>

namespace farfield::cuda {

struct DeviceSum::Impl {};

DeviceSum::DeviceSum(const DeviceSumOptions& /*options*/) { throw BackendUnavailable(why_no_device()); }
DeviceSum::DeviceSum(DeviceSum&&) noexcept = default;
DeviceSum& DeviceSum::operator=(DeviceSum&&) noexcept = default;
DeviceSum::~DeviceSum() = default;
void DeviceSum::set_points(std::span<const double>, std::span<const double>) {}
void DeviceSum::set_points(std::span<const double>, std::span<const double>, std::span<const double>) {}
double DeviceSum::run() { return 0.0; }
void DeviceSum::fetch(std::span<double>, std::span<double>) const {}

} // namespace farfield::cuda
