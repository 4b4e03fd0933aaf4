#include "sums/select/device.h"

#include "backend/comm/communicator_access.h"
#include "backend/cuda/devices.h"
#include "base/spelling.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/cpu/variants.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <utility>

namespace farfield {
namespace {

const DeviceChoice the_cpu{.kind = DeviceKind::cpu};
DeviceChoice gpu(int index) { return {.kind = DeviceKind::cuda, .gpus = {index}}; }

bool is_for_cpu(const SumOptions& options) {
    return options.variant == Variant::simd || options.isa != Isa::automatic ||
           options.outputs.has(Output::hessian) || options.dipoles;
}

// With room for what the prediction, made for CPUs, leaves out.
bool fits_memory(const MethodInfo& method, const SumProblem& problem, const SumOptions& options) {
    constexpr double share = 0.5;
    return method.bytes(problem, options, gpu(0)) <=
           share * static_cast<double>(cuda::devices().front().memory_bytes);
}

std::string first_gpu() {
    const auto found = cuda::devices();
    return found.empty() ? std::string() : found.front().name;
}

} // namespace

DeviceChoice gpu_of_rank(const Communicator& communicator) {
    const auto* ranks = CommunicatorAccess::transport(communicator);
    const auto count = static_cast<int>(cuda::devices().size());
    return gpu(ranks != nullptr && count > 0 ? ranks->local_rank() % count : 0);
}

DeviceChoice faster_device(const CostTable& table, const MethodInfo& method, const SumProblem& problem,
                           const SumOptions& options, const FirstGpu& first_gpu_name) {
    if (!method.on_gpu) return the_cpu;
    const double cpu_seconds = method.seconds(problem, options, {}, table);
    if (cpu_seconds <= least_gpu_start(table)) return the_cpu;
    const auto name = first_gpu_name();
    if (name.empty()) return the_cpu;
    return method.seconds(problem, options, name, table) < cpu_seconds ? gpu(0) : the_cpu;
}

ChosenDevice choose_device(const MethodInfo& method, const SumProblem& problem, const SumOptions& options,
                           std::optional<int> array_gpu) {
    if (options.device.kind == DeviceKind::cpu) {
        if (array_gpu)
            throw InvalidArgument(fmt::format(
                "the points are on cuda:{}, but {} was asked for; copy them to host memory or ask "
                "for {}",
                *array_gpu, spelled("device", "cpu"), spelled("device", "cuda")));
        return {the_cpu, {}};
    }
    if (array_gpu && options.device.gpus.empty()) return {gpu(*array_gpu), {}};
    if (options.device.kind == DeviceKind::cuda)
        return {options.device.gpus.empty() ? gpu_of_rank(options.communicator) : options.device, {}};
    const bool has_gpu_code = method.on_gpu && why_not(method, problem, options, gpu(0)).empty();
    if (!has_gpu_code && !is_for_gpus_only(options.variant)) return {the_cpu, {}};
    if (is_for_gpus_only(options.variant)) return {gpu_of_rank(options.communicator), {}};
    if (is_for_cpu(options)) return {the_cpu, {}};
    const auto& in_use = cost_table_in_use();
    auto chosen = faster_device(in_use.table, method, problem, options, first_gpu);
    if (chosen.kind == DeviceKind::cuda && !fits_memory(method, problem, options)) chosen = the_cpu;
    auto* const ranks = CommunicatorAccess::transport(options.communicator);
    if (ranks != nullptr) // on GPUs where all have one
        chosen = comm::any_rank(*ranks, chosen.kind == DeviceKind::cpu) ? the_cpu
                                                                        : gpu_of_rank(options.communicator);
    return {std::move(chosen), in_use.hash};
}

} // namespace farfield
