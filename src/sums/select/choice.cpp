#include "sums/select/choice.h"

#include "backend/comm/agree.h"
#include "backend/comm/transport.h"
#include "backend/cuda/devices.h"
#include "base/machine.h"
#include "sums/costs/cost_file.h"
#include "sums/select/device.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace farfield {
namespace {

Choice choose_machine(const MethodInfo& method, const SumProblem& problem, const SumOptions& options,
                      std::optional<int> array_gpu) {
    auto chosen = choose_device(method, problem, options, array_gpu);
    if (const auto reason = why_not(method, problem, options, chosen.device); !reason.empty())
        throw InvalidArgument(reason);
    return {&method, std::move(chosen.device), "asked for", std::move(chosen.cost_table)};
}

double expected_seconds(const Choice& choice, const SumProblem& problem, const SumOptions& options) {
    const auto gpu = choice.device.kind == DeviceKind::cuda
                         ? cuda::devices()[static_cast<std::size_t>(choice.device.gpus.front())].name
                         : std::string();
    return choice.method->seconds(problem, options, gpu, cost_table_in_use().table);
}

// Method::automatic: what ends first by the cost table.
Choice choose_fastest(const SumProblem& problem, const SumOptions& options, std::optional<int> array_gpu) {
    auto where = options;
    if (array_gpu && where.device.kind == DeviceKind::automatic)
        where.device = {.kind = DeviceKind::cuda, .gpus = {*array_gpu}};
    const auto candidates = candidate_methods(problem, where);
    const auto* const fast_method = candidates.fast;
    const bool stays = array_gpu || options.device.kind == DeviceKind::cuda;
    const auto fits_there = [&](const MethodInfo& method) {
        const auto device = choose_device(method, problem, options, array_gpu).device;
        return why_not(method, problem, options, device).empty();
    };
    if (stays && fast_method != nullptr && !fits_there(*candidates.usual) && fits_there(*fast_method)) {
        auto only = choose_machine(*fast_method, problem, options, array_gpu);
        only.reason = "no other method fits";
        return only;
    }
    auto usual = choose_machine(*candidates.usual, problem, options, array_gpu);
    usual.reason = fast_method == nullptr ? std::string(candidates.why_none) : "no other method fits";
    if (fast_method == nullptr || (stays && !fits_there(*fast_method))) return usual;
    // a GPU that is not there: whoever makes the sum says so
    if (stays && static_cast<std::size_t>(usual.device.gpus.front()) >= cuda::devices().size()) return usual;
    auto fast = choose_machine(*fast_method, problem, options, array_gpu);
    const double usual_seconds = expected_seconds(usual, problem, options);
    const double fast_seconds = expected_seconds(fast, problem, options);
    auto& chosen = fast_seconds < usual_seconds ? fast : usual;
    chosen.reason = fmt::format("by the cost table '{}' takes {:.2g} s, '{}' {:.2g} s", usual.method->name,
                                usual_seconds, fast.method->name, fast_seconds);
    chosen.cost_table = cost_table_in_use().hash;
    return chosen;
}

// A box that one method sums in mixed precision before any other does in double, on a CPU.
bool is_faster_in_mixed(SumProblem problem, SumOptions options, const CandidateMethods& in_double,
                        const CandidateMethods& in_mixed) {
    const auto* const method = in_mixed.fast;
    if (!stays_on_cpu(options) || !problem.is_periodic_box() || method == nullptr ||
        method->fast_in_box == nullptr || !method->fast_in_box(problem) || in_double.fast == nullptr)
        return false;
    const auto seconds = [&](const MethodInfo& by, Precision precision) {
        problem.precision = options.precision = precision;
        return seconds_alone(by, problem, options);
    };
    return seconds(*method, Precision::mixed) < std::min(seconds(*in_double.usual, Precision::float64),
                                                         seconds(*in_double.fast, Precision::float64));
}

// Whether all that would compute in double computes in mixed precision, too, or what is faster does.
bool takes_mixed(SumProblem problem, SumOptions options) {
    const auto with = [&](Precision precision) {
        problem.precision = options.precision = precision;
        if (options.method == Method::automatic) return candidate_methods(problem, options);
        const auto& method = method_info(options.method);
        const bool fits = why_not(method, problem, options, {.kind = DeviceKind::cpu, .gpus = {}}).empty();
        return CandidateMethods{.usual = fits ? &method : nullptr, .fast = nullptr};
    };
    const auto in_double = with(Precision::float64);
    const auto in_mixed = with(Precision::mixed);
    if (in_double.usual == in_mixed.usual && in_double.fast == in_mixed.fast) return true;
    return is_faster_in_mixed(problem, options, in_double, in_mixed);
}

} // namespace

Choice choose(const SumProblem& problem, const SumOptions& options, std::optional<int> array_gpu) {
    return options.method == Method::automatic
               ? choose_fastest(problem, options, array_gpu)
               : choose_machine(method_info(options.method), problem, options, array_gpu);
}

Choice choose_alike(comm::Transport* ranks, const SumProblem& problem, const SumOptions& options,
                    std::optional<int> array_gpu) {
    if (ranks == nullptr) return choose(problem, options, array_gpu);
    Choice mine{};
    comm::together(*ranks, [&] { mine = choose(problem, options, array_gpu); });
    const auto method = comm::from_rank(*ranks, mine.method->value);
    const bool differs = mine.method->value != method;
    if (!comm::any_rank(*ranks, differs)) return mine;
    comm::together(*ranks, [&] { // all, as ranks choose their devices together
        auto again = choose_machine(method_info(method), problem, options, array_gpu);
        mine.device = again.device;
        if (!differs) return;
        mine = std::move(again);
        mine.reason = "chosen by rank 0";
    });
    return mine;
}

Precision usual_precision(double tolerance) {
    constexpr double least_of_mixed = 5e-6;
    return tolerance >= least_of_mixed ? Precision::mixed : Precision::float64;
}

Precision first_precision(const SumProblem& problem, const SumOptions& options) {
    if (options.precision != Precision::automatic) return options.precision;
    const auto usual = usual_precision(options.tolerance);
    // rungs that have no mixed precision; and floats would leave bounds few digits
    const bool fixed = options.variant != Variant::automatic || options.guaranteed;
    return usual != Precision::float64 && !fixed && takes_mixed(problem, options) ? usual
                                                                                  : Precision::float64;
}

Precision first_precision_alike(comm::Transport* ranks, const SumProblem& problem,
                                const SumOptions& options) {
    if (ranks == nullptr) return first_precision(problem, options);
    Precision mine{};
    comm::together(*ranks, [&] { mine = first_precision(problem, options); });
    return comm::from_rank(*ranks, mine);
}

double checked_bytes(const SumProblem& problem, const SumOptions& options, const Choice& choice) {
    const double bytes = choice.method->bytes(problem, options, choice.device);
    const auto memory = static_cast<double>(physical_memory());
    if (choice.device.kind == DeviceKind::cpu && bytes > memory)
        throw InvalidArgument(
            fmt::format("the sum of {} sources and {} targets needs {:.1f} GiB of memory, and "
                        "this machine has {:.1f}; use fewer points",
                        problem.sources, problem.targets, bytes / 0x1p30, memory / 0x1p30));
    return bytes;
}

} // namespace farfield
