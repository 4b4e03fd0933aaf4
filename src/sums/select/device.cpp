#include "sums/select/device.h"

#include "backend/cuda/devices.h"
#include "sums/direct/variants.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <mutex>

namespace farfield {
namespace {

/// Of CUDA, once a process: 0.20 to 0.23 s on a machine with an H200.
constexpr double assumed_start_seconds = 0.25;

const DeviceChoice the_cpu{.kind = DeviceKind::cpu};
DeviceChoice gpu(int index) { return {.kind = DeviceKind::cuda, .gpus = {index}}; }

bool is_for_cpu(const SumOptions& options) {
    return options.variant == Variant::simd || options.isa != Isa::automatic;
}

/// CUDA's start is worth its time once the sums that would have gained from it have taken as long: this
/// counts them.
class StartedLate {
public:
    /// True where the GPU is to be considered for a sum that takes the CPU `seconds`.
    bool worth_it(double seconds) {
        const std::lock_guard lock(mutex_);
        cpu_seconds_ += seconds;
        return cpu_seconds_ >= assumed_start_seconds;
    }

private:
    std::mutex mutex_;
    double cpu_seconds_ = 0.0;
};

DeviceChoice faster_device(const SumOptions& options, bool self, const SumCost& cost) {
    constexpr double too_few_pairs = 1e7; // some ten milliseconds at most, not worth a measurement
    static StartedLate start;
    if (!cuda::built_with_cuda() || cost.pairs * cost.executions < too_few_pairs) return the_cpu;
    const double cpu_seconds = seconds_on(measured_cpu_rates(options, self), cost);
    // asking for GPUs loads the driver, which takes a tenth of a second
    if (!start.worth_it(cpu_seconds) || cuda::devices().empty()) return the_cpu;
    return seconds_on(measured_gpu_rates(options.precision, 0), cost) < cpu_seconds ? gpu(0) : the_cpu;
}

} // namespace

DeviceChoice choose_device(const SumOptions& options, bool self, const SumCost& cost,
                           std::optional<int> array_gpu) {
    if (options.device.kind == DeviceKind::cpu) {
        if (array_gpu)
            throw InvalidArgument(
                fmt::format("the points are on cuda:{}, but device 'cpu' was asked for; copy "
                            "them to host memory or ask for device 'cuda'",
                            *array_gpu));
        return the_cpu;
    }
    if (array_gpu && options.device.gpus.empty()) return gpu(*array_gpu);
    if (options.device.kind == DeviceKind::cuda) return options.device.gpus.empty() ? gpu(0) : options.device;
    if (is_for_gpus_only(options.variant)) return gpu(0);
    if (is_for_cpu(options)) return the_cpu;
    return faster_device(options, self, cost);
}

} // namespace farfield
