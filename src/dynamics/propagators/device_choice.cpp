#include "dynamics/propagators/device_choice.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "backend/cuda/devices.h"
#include "base/spelling.h"
#include "dynamics/bodies/box.h"
#include "dynamics/forces/settings.h"
#include "dynamics/integrators/integrator.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/cpu/variants.h"
#include "sums/direct/cuda/rungs.h"
#include "sums/kernels/kernel.h"
#include "sums/method/method.h"
#include "sums/select/device.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield {
namespace {

bool is_for_one_device(Variant variant) { return is_for_gpus_only(variant) || variant == Variant::simd; }

bool is_left_open(const ForceOptions& force) {
    return force.device.kind == DeviceKind::automatic && force.isa == Isa::automatic &&
           !is_for_one_device(force.variant);
}

// Loops of their own, which no rung computes.
void check_variant(const ForceOptions& force, Integrator integrator) {
    if (force.variant == Variant::automatic) return;
    if (descriptor_of(integrator).uses_jerk)
        throw InvalidArgument(fmt::format(
            "time.integrator = \"{}\" sums accelerations and their time derivatives in a loop of its "
            "own; leave {} out",
            name_of(integrator), spelled("variant", name_of(force.variant))));
    if (force.method != Method::direct)
        throw InvalidArgument(fmt::format("{} is a rung of {}, not of '{}'; leave it out",
                                          spelled("variant", name_of(force.variant)),
                                          spelled("method", "direct"), name_of(force.method)));
}

// What a simulation on GPUs does not take, before the GPUs are looked at.
void check_method(const ForceOptions& force, const std::vector<int>& gpus, std::int64_t n) {
    const auto& method = method_info(force.method);
    if (!method.resident) throw InvalidArgument(why_not_resident(force, force.method));
    // every pair of open space has steps of its own, in all variants
    if (!method.approximates && !is_periodic(force.period)) return;
    SumProblem problem;
    problem.kernel = &kernel_info(force.kernel);
    problem.outputs = problem.kernel->output_set();
    problem.sources = problem.targets = n;
    problem.softening = force.softening;
    problem.tolerance = force.tolerance;
    problem.period = force.period;
    problem.boundary = force.boundary;
    problem.background = force.background;
    problem.precision = force.precision;
    const auto options = sum_options_of(force, {}, force.precision);
    const auto reason = why_not(method, problem, options, {.kind = DeviceKind::cuda, .gpus = gpus});
    if (!reason.empty()) throw InvalidArgument(reason);
}

void check_rung(const ForceOptions& force) {
    const auto rung = cuda::rung_of(force.variant, true, force.precision);
    if (rung == cuda::Rung::symmetric || rung == cuda::Rung::register_tile) return;
    if (force.communicator.size() > 1)
        throw InvalidArgument(fmt::format(
            "{} computes on one GPU, not on those of ranks; start one process, or use 'symmetric' or "
            "'register-tile'",
            spelled("variant", name_of(force.variant))));
    if (force.device.gpus.size() > 1)
        throw InvalidArgument(fmt::format(
            "{} computes on one GPU, not on {}; name one, or use 'symmetric' or 'register-tile'",
            spelled("variant", name_of(force.variant)), spelled("device", name_of(force.device))));
}

int ranks_on_host(const Communicator& communicator) {
    const auto* ranks = CommunicatorAccess::transport(communicator);
    return ranks != nullptr ? ranks->local_size() : 1;
}

// Of this process, whatever other ranks have.
RunDevice choose_own_device(const ForceOptions& force, Integrator integrator, std::int64_t n, double steps) {
    const bool cpu_only = !descriptor_of(integrator).on_gpu;
    check_variant(force, integrator);
    if (force.device.kind == DeviceKind::cpu) {
        if (is_for_gpus_only(force.variant))
            throw InvalidArgument(fmt::format(
                "{} is a rung for GPUs; use {}, or 'auto', 'naive', 'soa', 'simd' or 'symmetric' on "
                "the CPU",
                spelled("variant", name_of(force.variant)), spelled("device", "cuda")));
        return {};
    }
    if (force.device.kind == DeviceKind::cuda) {
        if (cpu_only)
            throw InvalidArgument(fmt::format(
                "time.integrator = \"{}\" runs on the CPU only; with {} use \"yoshida4\" "
                "(order 4, too) or \"leapfrog\", or set {}",
                name_of(integrator), spelled("device", name_of(force.device)), spelled("device", "cpu")));
        const auto gpus =
            force.device.gpus.empty() ? gpu_of_rank(force.communicator).gpus : force.device.gpus;
        if (force.communicator.size() > 1 && gpus.size() > 1)
            throw InvalidArgument(
                fmt::format("{} GPUs for one rank; name one, or none: {} gives each rank one", gpus.size(),
                            spelled("device", "cuda")));
        check_method(force, gpus, n);
        check_rung(force);
        for (const int gpu : gpus) cuda::use_device(gpu);
        return {.kind = DeviceKind::cuda, .gpus = gpus, .note = {}};
    }
    if (is_periodic(force.period)) return {}; // on a GPU only where it was asked for
    // the cost table has rates for simulations on a GPU of those alone that compute every pair
    const auto& method = method_info(force.method);
    if (!method.resident || method.approximates) return {};
    if (is_for_gpus_only(force.variant)) {
        check_rung(force);
        const auto gpus = gpu_of_rank(force.communicator).gpus;
        cuda::use_device(gpus.front());
        return {.kind = DeviceKind::cuda, .gpus = gpus, .note = {}};
    }
    const CostTable* table = is_left_open(force) ? &cost_table_in_use().table : nullptr;
    if (!cuda::built_with_cuda()) return {}; // nobody expects a GPU of such a build
    if (const auto problem = cuda::why_no_device(); !problem.empty())
        return {.kind = DeviceKind::cpu, .gpus = {}, .note = "running on the CPU: " + problem};
    if (ranks_on_host(force.communicator) > static_cast<int>(cuda::devices().size())) return {};
    if (table == nullptr ||
        !gpu_ends_sooner(*table, cuda::devices().front().name, force, evaluations_in(integrator, steps), n))
        return {};
    if (cpu_only)
        return {.kind = DeviceKind::cpu,
                .gpus = {},
                .note = fmt::format("running on the CPU: \"{}\" has no GPU version; \"yoshida4\" has",
                                    name_of(integrator))};
    return {.kind = DeviceKind::cuda, .gpus = gpu_of_rank(force.communicator).gpus, .note = {}};
}

} // namespace

std::string why_not_resident(const ForceOptions& force, Method method) {
    return fmt::format(
        "{} runs simulations on the CPU only; with {} use 'direct', 'fmm' or 'treecode', or set {}",
        spelled("method", name_of(method)), spelled("device", name_of(force.device)),
        spelled("device", "cpu"));
}

double seconds_on(const GpuRunRates& rates, double evaluations, std::int64_t n) {
    const double pairs = static_cast<double>(n) * static_cast<double>(n);
    return rates.start_seconds + evaluations * (rates.step_seconds + pairs / rates.pairs_per_second);
}

GpuRunRates gpu_run_rates(const CostTable& table, std::string_view gpu_name, Precision precision) {
    const auto of = [&](std::string_view pattern) { return cost_of_gpu(table, pattern, gpu_name); };
    return {.start_seconds = of(direct_cost::gpu_start_seconds) + of(direct_cost::gpu_run_start_seconds),
            .step_seconds = of(direct_cost::gpu_step_seconds),
            .pairs_per_second = of(direct_cost::gpu_pairs_per_second(precision, true))};
}

bool gpu_ends_sooner(const CostTable& table, std::string_view gpu_name, const ForceOptions& force,
                     double evaluations, std::int64_t n) {
    const SumOptions options{.precision = force.precision, .threads = force.threads, .isa = force.isa};
    const SumCost cost{.pairs = static_cast<double>(n) * static_cast<double>(n), .executions = evaluations};
    return seconds_on(gpu_run_rates(table, gpu_name, force.precision), evaluations, n) <
           seconds_on(cpu_rates(table, options, true), cost);
}

double evaluations_in(Integrator integrator, double steps) {
    return steps * descriptor_of(integrator).evaluations;
}

bool leaves_to_cost_table(const ForceOptions& force) {
    if (is_periodic(force.period)) return true; // splittings follow from it
    const bool has_choice = is_left_open(force) && !kernel_info(force.kernel).moves_vortices();
    const bool sums_gaussians = force.reinitialise != Reinitialise::none;
    if (has_choice || sums_gaussians || force.method == Method::automatic) return true;
    const bool on_cpu = force.device.kind != DeviceKind::cuda; // on GPUs leaves have a size of their own
    return on_cpu && method_info(force.method).settle != nullptr && force.leaf == 0;
}

std::string deciding_cost_table(const ForceOptions& force) {
    return leaves_to_cost_table(force) ? cost_table_in_use().hash : std::string();
}

RunDevice choose_run_device(const ForceOptions& force, Integrator integrator, std::int64_t n, double steps) {
    auto* const ranks = CommunicatorAccess::transport(force.communicator);
    RunDevice chosen;
    comm::together(ranks, [&] { chosen = choose_own_device(force, integrator, n, steps); });
    const bool on_cpu = chosen.kind == DeviceKind::cpu;
    // hosts may differ: on GPUs where all ranks have one
    if (ranks != nullptr && comm::any_rank(*ranks, on_cpu) && !on_cpu) return {};
    return chosen;
}

} // namespace farfield
