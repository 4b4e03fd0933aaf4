#include "dynamics/propagators/method_choice.h"

#include "backend/comm/communicator_access.h"
#include "backend/cuda/devices.h"
#include "base/arrays.h"
#include "dynamics/integrators/integrator.h"
#include "dynamics/propagators/device_choice.h"
#include "sums/asked.h"
#include "sums/costs/cost_file.h"
#include "sums/method/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace farfield {

SumProblem problem_of_bodies(const SumOptions& options, const Bodies& bodies) {
    auto problem = problem_of(options, matrix_view(std::span<const double>(bodies.position), 3), nullptr);
    problem.moves = true;
    return problem;
}

namespace {

struct ChosenMethod {
    Method method;
    std::string reason;
};

// Seconds of all evaluations, with every pair on that device or by the other method on the CPU, or on the GPU
// that was asked for. On the CPU both are taken for one thread: the bits of a run are not to depend on the
// number of threads.
std::pair<double, double> seconds_of_both(const MethodInfo& usual, const MethodInfo& other,
                                          const ForceOptions& force, const Bodies& bodies,
                                          const RunDevice& device, double evaluations) {
    auto options = sum_options_of(force, {}, force.precision);
    const auto problem = problem_of_bodies(options, bodies);
    const auto& table = cost_table_in_use().table;
    if (device.kind == DeviceKind::cuda) {
        const auto name = cuda::devices()[static_cast<std::size_t>(device.gpus.front())].name;
        if (problem.is_periodic())
            return {evaluations * usual.seconds(problem, options, name, table),
                    evaluations * other.seconds(problem, options, name, table)};
        const bool both = force.device.kind == DeviceKind::cuda;
        const auto rates = gpu_run_rates(table, name, force.precision);
        return {seconds_on(rates, evaluations, bodies.size()),
                (both ? rates.start_seconds : 0.0) +
                    evaluations * other.seconds(problem, options, both ? name : std::string(), table)};
    }
    options.threads = 1;
    return {evaluations * usual.seconds(problem, options, {}, table),
            evaluations * other.seconds(problem, options, {}, table)};
}

ChosenMethod choose_method(const ForceOptions& force, Integrator integrator, const Bodies& bodies,
                           double steps) {
    if (force.method != Method::automatic) return {force.method, "asked for"};
    const auto& scheme = descriptor_of(integrator);
    if (scheme.uses_jerk) {
        const auto& able =
            first_method([](const MethodInfo& method) { return method.field_and_jerk != nullptr; });
        return {able.value, fmt::format("it computes the time derivatives that {} needs", scheme.name)};
    }
    const auto options = sum_options_of(force, {}, force.precision);
    const auto problem = problem_of_bodies(options, bodies);
    const auto candidates = candidate_methods(problem, options);
    const auto& usual = *candidates.usual;
    if (candidates.fast == nullptr) return {usual.value, std::string(candidates.why_none)};
    const auto& fast = *candidates.fast;
    if (force.device.kind == DeviceKind::cuda &&
        !(fast.resident && why_not(fast, problem, options, force.device).empty()))
        return {usual.value, "no other method fits"};
    auto by_pairs = force;
    by_pairs.method = usual.value;
    const auto device = choose_run_device(by_pairs, integrator, bodies.size(), steps);
    const double evaluations = std::max(1.0, evaluations_in(integrator, steps));
    const auto [pair_seconds, fast_seconds] =
        seconds_of_both(usual, fast, force, bodies, device, evaluations);
    return {fast_seconds < pair_seconds ? fast.value : usual.value,
            fmt::format("by the cost table an evaluation takes {:.2g} s by '{}'{} and {:.2g} s by '{}'",
                        pair_seconds / evaluations, usual.name,
                        device.kind == DeviceKind::cuda ? " on the GPU" : "", fast_seconds / evaluations,
                        fast.name)};
}

} // namespace

ForceSettings settle_force(const ForceOptions& force, Integrator integrator, const Bodies& bodies,
                           double steps) {
    ForceSettings out;
    auto chosen = choose_method(force, integrator, bodies, steps);
    auto* const ranks = CommunicatorAccess::transport(force.communicator);
    out.method = comm::from_rank(ranks, chosen.method); // hosts may have cost tables of their own
    out.reason = std::move(chosen.reason);
    auto* const settle = method_info(out.method).settle;
    if (settle == nullptr) return out;
    auto options = sum_options_of(force, out, force.precision);
    settle(problem_of_bodies(options, bodies), options, cost_table_in_use().table);
    out.order = comm::from_rank(ranks, options.order);
    out.leaf = comm::from_rank(ranks, options.leaf);
    out.m2l = comm::from_rank(ranks, options.m2l);
    return out;
}

} // namespace farfield
