// The table of methods: a line here and the method's own file are all that a method needs.
#include "sums/method/method.h"

#include "backend/cuda/devices.h"
#include "base/spelling.h"
#include "base/text.h"
#include "sums/costs/cost_file.h"
#include "sums/method/refuse.h"
#include "sums/method/target_share.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <string>

namespace farfield {

void PreparedSum::expect_whole_rows(const WholeRows& /*rows*/) {
    throw InternalError("rows of ranks for a sum that takes none");
}

void PreparedSum::execute_with_dipoles(const ConstArrayView& /*strengths*/, const ConstArrayView& /*dipoles*/,
                                       const SumOutputs& /*outputs*/, const SumHooks& /*hooks*/,
                                       SumReport& /*report*/) {
    throw InternalError("dipoles for a sum that has none");
}

const MethodInfo& direct_method();
const MethodInfo& fmm_method();
const MethodInfo& reference_method();
const MethodInfo& fgt_method();
const MethodInfo& treecode_method();
const MethodInfo& ewald_method();
const MethodInfo& pme_method();

std::span<const MethodInfo* const> methods() {
    static const std::array table{&direct_method(),   &fmm_method(),   &reference_method(), &fgt_method(),
                                  &treecode_method(), &ewald_method(), &pme_method()};
    return table;
}

const MethodInfo& method_info(Method method) {
    for (const auto* info : methods())
        if (info->value == method) return *info;
    throw InternalError("a method without a row in the table");
}

bool divides_itself(const MethodInfo& method, const SumProblem& problem, const DeviceChoice& device) {
    return method.divides != nullptr && method.divides(problem, device);
}

bool is_divided(const MethodInfo& method, const SumProblem& problem, const DeviceChoice& device) {
    return divides_itself(method, problem, device) || shares_targets(method, problem, device);
}

std::string why_not(const MethodInfo& method, const SumProblem& problem, const SumOptions& options,
                    const DeviceChoice& device) {
    const bool alone = options.communicator.size() == 1;
    const auto divides = [&](const MethodInfo& by, DeviceKind kind) {
        return is_divided(by, problem, {.kind = kind, .gpus = {}});
    };
    if (!alone && !divides(method, device.kind)) {
        const bool on_gpu = device.kind == DeviceKind::cuda;
        const bool in_box = problem.is_periodic_box();
        const auto& other = in_box ? pme_method() : direct_method();
        const auto remedy = !in_box && on_gpu && divides(method, DeviceKind::cpu) ? spelled("device", "cpu")
                            : divides(other, device.kind) ? spelled("method", other.name)
                                                          : std::string();
        return fmt::format(
            "method '{}' does not divide such a sum between several ranks yet{}; {}start one process",
            method.name, on_gpu ? " on GPUs" : "",
            remedy.empty() ? remedy : fmt::format("use {}, or ", remedy));
    }
    return method.why_not(problem, options, device);
}

bool stays_on_cpu(const SumOptions& options) {
    return options.device.kind == DeviceKind::cpu ||
           (options.device.kind == DeviceKind::automatic && cuda::devices().empty());
}

double seconds_alone(const MethodInfo& method, const SumProblem& problem, SumOptions options) {
    options.threads = 1;
    return method.seconds(problem, options, {}, cost_table_in_use().table);
}

CandidateMethods candidate_methods(const SumProblem& problem, const SumOptions& options) {
    // in open space both run on either device
    const bool on_gpu = problem.is_periodic() && options.device.kind == DeviceKind::cuda;
    const auto device = on_gpu ? options.device : DeviceChoice{.kind = DeviceKind::cpu, .gpus = {}};
    const auto fits = [&](const MethodInfo& method) {
        return (!on_gpu || method.on_gpu) && why_not(method, problem, options, device).empty();
    };
    CandidateMethods out{.usual = &first_method(fits), .fast = nullptr};
    if (problem.is_periodic_box()) { // of every pair and all its images nobody waits for the end
        const auto fits_box = [&](const MethodInfo& method) { return method.periodic && fits(method); };
        for (const auto* info : methods()) {
            if (!fits_box(*info)) continue;
            if (!out.usual->periodic) out.usual = info;
            if (info != out.usual && out.fast == nullptr) out.fast = info;
        }
        for (const auto* info : methods())
            if (out.fast != nullptr && stays_on_cpu(options) && info->fast_in_box != nullptr &&
                info->fast_in_box(problem) && fits(*info) &&
                seconds_alone(*info, problem, options) < seconds_alone(*out.fast, problem, options))
                out.fast = info;
        if (out.fast != nullptr) return out;
    }
    for (const auto* info : methods())
        if (out.fast == nullptr && info != out.usual && info->approximates && fits(*info)) out.fast = info;
    if (out.fast == nullptr) return {.usual = out.usual, .fast = nullptr, .why_none = "no other method fits"};
    if (options.tolerance == 0.0 && options.order == 0)
        return {
            .usual = out.usual, .fast = nullptr, .why_none = "neither a tolerance nor an order was given"};
    return out;
}

std::string methods_of_boxes(bool all_axes) {
    std::string able;
    for (const auto* info : methods())
        if ((all_axes && info->periodic) || info->open_axes)
            able += (able.empty() ? "" : " or ") + spelled("method", info->name);
    return able;
}

std::string why_no_period(std::string_view method) {
    return fmt::format("method '{}' sums open space only; leave {} out, or use {}", method, spelled("period"),
                       methods_of_boxes(true));
}

std::string tolerance_remedy(int order, Precision precision) {
    if (order > 0) return fmt::format("leave {} out or use", spelled("order"));
    if (precision != Precision::float64) return fmt::format("use {} or", spelled("precision", "double"));
    return "use";
}

std::string_view method_for(const KernelInfo& kernel) {
    for (const auto* info : methods())
        if (info->computes(kernel)) return info->name;
    throw InternalError("a kernel that no method computes");
}

} // namespace farfield
