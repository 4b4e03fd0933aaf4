// What guides say of options, kernels and methods, from their tables.
#include <farfield/options.h>

#include "sums/method/method.h"

#include <farfield/simulation.h>

#include <fmt/format.h>

namespace farfield {
namespace {

std::string quoted_names(const std::vector<std::string_view>& names) {
    std::string out;
    for (const auto name : names) out += fmt::format("{}`{}`", out.empty() ? "" : ", ", name);
    return out;
}

std::string text_with(const OptionInfo& option, std::vector<std::string_view> (*choices)()) {
    auto out = fmt::format("{}.", option.text);
    if (option.text_of_choice != nullptr) {
        std::string list;
        for (const auto name : choices())
            list += fmt::format("{}`{}` ({})", list.empty() ? " " : ", ", name, option.text_of_choice(name));
        out += list + ".";
    }
    if (!option.details.empty()) out += fmt::format(" {}", option.details);
    return out;
}

std::string allowed(const OptionInfo& option) {
    switch (option.type) {
    case OptionType::choice:
        return quoted_names(option.choices());
    case OptionType::device:
        return "`auto`, `cpu`, `cuda`, `cuda:1`, `cuda:0,1`";
    case OptionType::flag:
        return "`true`, `false`";
    case OptionType::lengths:
        return "one length or three, each ≥ 0";
    case OptionType::count:
        return "whole number " + option.range();
    default:
        return "number " + option.range();
    }
}

std::string default_of(const OptionInfo& option) {
    const auto value = option.sum.get(SumOptions{});
    return option.allows(value) ? fmt::format("`{}`", text_of(value)) : std::string(option.otherwise);
}

std::string dimensions(const KernelInfo& kernel) {
    return kernel.least_dimension == kernel.most_dimension
               ? fmt::format("{}", kernel.least_dimension)
               : fmt::format("{} to {}", kernel.least_dimension, kernel.most_dimension);
}

std::string own_options(const KernelInfo& kernel) {
    return kernel.softens       ? "`softening`"
           : kernel.needs_sigma ? "`sigma` (needed)"
           : kernel.has_sigma   ? "`sigma`"
                                : "";
}

// The kernels that the method computes on the CPU, with the options that every kernel takes.
std::vector<std::string_view> kernels_of(const MethodInfo& method) {
    std::vector<std::string_view> names;
    for (const auto* kernel : kernels()) {
        SumProblem problem;
        problem.kernel = kernel;
        problem.dimension = kernel->least_dimension;
        problem.outputs = kernel->output_set();
        problem.sources = problem.targets = 1;
        problem.sigma = kernel->needs_sigma ? 1.0 : 0.0;
        if (method.periodic) problem.period = {1.0, 1.0, 1.0};
        SumOptions options;
        options.kernel = kernel->value;
        options.method = method.value;
        if (method.why_not(problem, options, {.kind = DeviceKind::cpu}).empty() && method.computes(*kernel))
            names.push_back(kernel->name);
    }
    return names;
}

} // namespace

KernelFacts facts_of(Kernel kernel) {
    const auto& info = kernel_info(kernel);
    return {.text = info.text,
            .least_dimension = info.least_dimension,
            .most_dimension = info.most_dimension,
            .strength = info.strength.name,
            .strength_columns = info.strength.columns,
            .outputs = info.output_set(),
            .usual_outputs = info.usual_outputs(),
            .acts_on_itself = info.acts_on_itself,
            .softens = info.softens,
            .has_sigma = info.has_sigma,
            .needs_sigma = info.needs_sigma,
            .has_dipoles = info.has_dipoles,
            .moves_vortices = info.moves_vortices()};
}

std::string_view text_of(Method method) {
    if (method == Method::automatic)
        return "the one that ends first by the cost table, where a tolerance was given";
    return method_info(method).text;
}

template <>
std::string guide_text<SumOptions>(const OptionInfo& option) {
    return text_with(option, option.choices);
}
template <>
std::string guide_text<ForceOptions>(const OptionInfo& option) {
    return text_with(option, option.force_choices != nullptr ? option.force_choices : option.choices);
}

std::string options_markdown() {
    std::string out = "| option | flag | allowed | default | meaning |\n|---|---|---|---|---|\n";
    for (const auto& option : option_table())
        if (option.sum)
            out += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", option.name, option.flag(),
                               allowed(option), default_of(option), guide_text<SumOptions>(option));
    return out;
}

std::string kernels_markdown() {
    std::string out =
        "| kernel | what it is | dimensions | strength | outputs | a point on itself | own option |\n"
        "|---|---|---|---|---|---|---|\n";
    for (const auto* kernel : kernels()) {
        std::vector<std::string_view> outputs;
        for (const auto& info : kernel->outputs) outputs.push_back(name_of(info.output));
        out += fmt::format("| `{}` | {} | {} | {}{} | {} | {} | {} |\n", kernel->name, kernel->text,
                           dimensions(*kernel), kernel->strength.name,
                           kernel->strength.columns == 2 ? ", complex"
                           : kernel->has_dipoles         ? ", dipole"
                                                         : "",
                           quoted_names(outputs), kernel->acts_on_itself ? "counts" : "does not count",
                           own_options(*kernel));
    }
    return out;
}

std::string methods_markdown() {
    std::string out =
        "| method | what it computes | kernels | machine | periodic axes | Hermite integrators |\n"
        "|---|---|---|---|---|---|\n";
    for (const auto* method : methods())
        out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", method->name, method->text,
                           quoted_names(kernels_of(*method)), method->on_gpu ? "CPU, GPUs" : "CPU",
                           method->periodic    ? "all three"
                           : method->open_axes ? "none to three (in space)"
                                               : "none",
                           method->field_and_jerk != nullptr ? "yes" : "no");
    return out;
}

} // namespace farfield
