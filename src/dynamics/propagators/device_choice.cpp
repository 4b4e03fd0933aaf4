#include "dynamics/propagators/device_choice.h"

#include "backend/cuda/devices.h"
#include "dynamics/integrators/integrator.h"
#include "sums/select/device.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield {
namespace {

constexpr double start_seconds = 0.5; // CUDA, the code, and the bodies on their way
constexpr double step_seconds = 4e-6; // of few bodies: kernels and blocks that wait for each other

double evaluations_in(Integrator integrator, double steps) {
    return steps * (integrator == Integrator::yoshida4 ? 3.0 : 1.0);
}

// True where the GPU ends the run sooner. Measures only where there is something to gain.
bool gpu_is_faster(const ForceOptions& force, double evaluations, std::int64_t n) {
    constexpr double few_pairs = 1e9; // a fraction of a second on any CPU
    const SumOptions options{.precision = force.precision, .threads = force.threads, .isa = force.isa};
    const SumCost cost{.pairs = static_cast<double>(n) * static_cast<double>(n), .executions = evaluations};
    if (cost.pairs * evaluations < few_pairs) return false;
    const double cpu_seconds = seconds_on(measured_cpu_rates(options, true), cost);
    if (cpu_seconds <= seconds_on_gpu(evaluations, n, 1e300)) return false;
    return seconds_on_gpu(evaluations, n, measured_gpu_rates(force.precision, 0).pairs_per_second) <
           cpu_seconds;
}

} // namespace

double seconds_on_gpu(double evaluations, std::int64_t n, double pairs_per_second) {
    const double pairs = static_cast<double>(n) * static_cast<double>(n);
    return start_seconds + evaluations * (step_seconds + pairs / pairs_per_second);
}

Place choose_place(const ForceOptions& force, Integrator integrator, std::int64_t n, double steps) {
    const bool needs_jerk = descriptor_of(integrator).uses_jerk;
    if (force.device.kind == DeviceKind::cpu) return {};
    if (force.device.kind == DeviceKind::cuda) {
        if (needs_jerk)
            throw InvalidArgument(
                fmt::format("time.integrator = \"{}\" runs on the CPU only; with force.device = \"{}\" use "
                            "\"yoshida4\" (order 4, too) or \"leapfrog\", or set force.device = \"cpu\"",
                            name_of(integrator), name_of(force.device)));
        const auto gpus = force.device.gpus.empty() ? std::vector<int>{0} : force.device.gpus;
        for (const int gpu : gpus) cuda::use_device(gpu);
        return {.kind = DeviceKind::cuda, .gpus = gpus, .note = {}};
    }
    if (!cuda::built_with_cuda()) return {}; // nobody expects a GPU of such a build
    if (const auto problem = cuda::why_no_device(); !problem.empty())
        return {.kind = DeviceKind::cpu, .gpus = {}, .note = "running on the CPU: " + problem};
    if (force.isa != Isa::automatic || !gpu_is_faster(force, evaluations_in(integrator, steps), n)) return {};
    if (needs_jerk)
        return {.kind = DeviceKind::cpu,
                .gpus = {},
                .note = fmt::format("running on the CPU: \"{}\" has no GPU version; \"yoshida4\" has",
                                    name_of(integrator))};
    return {.kind = DeviceKind::cuda, .gpus = {0}, .note = {}};
}

} // namespace farfield
