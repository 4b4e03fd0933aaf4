// The table of options. The force of a simulation is a sum too, whose options stand in a struct of their own:
// a row names its member in each.
#include <farfield/options.h>

#include "base/spelling.h"
#include "base/text.h"
#include "sums/kernels/kernel.h"
#include "sums/lengths.h"

#include <farfield/error.h>
#include <farfield/simulation.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace farfield {
namespace {

template <class Value>
OptionValue to_option(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
        if (static_cast<std::size_t>(value) >= names_of<Value>().size())
            throw InvalidArgument(fmt::format("{} is not one of its values", static_cast<int>(value)));
        return std::string(name_of(value));
    } else if constexpr (std::is_same_v<Value, DeviceChoice>) {
        return name_of(value);
    } else if constexpr (std::is_same_v<Value, Lengths>) {
        return text_of_lengths(value);
    } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
        return std::int64_t{value};
    } else {
        return value;
    }
}

template <class Value>
void from_option(const OptionValue& option, Value& value) {
    if constexpr (std::is_enum_v<Value>) {
        const auto& name = std::get<std::string>(option);
        const auto found = from_name<Value>(name);
        if (!found)
            throw InvalidArgument(
                fmt::format("'{}' is not known{}", name, suggestion(name, names_of<Value>())));
        value = *found;
    } else if constexpr (std::is_same_v<Value, DeviceChoice>) {
        value = device_from_name(std::get<std::string>(option));
    } else if constexpr (std::is_same_v<Value, Lengths>) {
        value = lengths_from_text(std::get<std::string>(option));
    } else if constexpr (std::is_same_v<Value, bool>) {
        value = std::get<bool>(option);
    } else if constexpr (std::is_integral_v<Value>) {
        const auto count = std::get<std::int64_t>(option);
        if (count < std::numeric_limits<Value>::min() || count > std::numeric_limits<Value>::max())
            throw InvalidArgument(fmt::format("{} is too large", count));
        value = static_cast<Value>(count);
    } else {
        value = std::get<Value>(option);
    }
}

template <auto member>
struct Access;
template <class Options, class Value, Value Options::*member>
struct Access<member> {
    static OptionValue get(const Options& options) { return to_option(options.*member); }
    static void set(Options& options, const OptionValue& value) { from_option(value, options.*member); }
    static constexpr OptionMember<Options> row{get, set};
};
template <auto member>
constexpr auto in = Access<member>::row;

std::vector<std::string_view> kernels_of_forces() {
    std::vector<std::string_view> names;
    for (const auto* kernel : kernels())
        if (kernel->moves_bodies() || kernel->moves_vortices()) names.push_back(kernel->name);
    return names;
}

bool moves_bodies(Kernel kernel) { return kernel_info(kernel).moves_bodies(); }
bool moves_vortices(Kernel kernel) { return kernel_info(kernel).moves_vortices(); }

template <class Enum>
std::string_view text_of_name(std::string_view name) {
    if constexpr (std::is_same_v<Enum, Kernel>)
        return kernel_info(from_name<Enum>(name).value()).text;
    else
        return text_of(from_name<Enum>(name).value());
}

constexpr std::array option_rows{
    OptionInfo{.name = "kernel",
               .type = OptionType::choice,
               .text = "Pair interaction",
               .details =
                   "In a simulation `gravity` acts by mass; `coulomb` acts by charge, and acceleration "
                   "is q·E/m; with `vortex2d` vortices move with the flow, on the CPU.",
               .choices = names_of<Kernel>,
               .text_of_choice = text_of_name<Kernel>,
               .force_choices = kernels_of_forces,
               .case_key = true,
               .sum = in<&SumOptions::kernel>,
               .force = in<&ForceOptions::kernel>},
    OptionInfo{.name = "method",
               .type = OptionType::choice,
               .text = "Algorithm",
               .choices = names_of<Method>,
               .text_of_choice = text_of_name<Method>,
               .case_key = true,
               .sum = in<&SumOptions::method>,
               .force = in<&ForceOptions::method>},
    OptionInfo{.name = "G",
               .type = OptionType::number,
               .text = "Gravitational (or Coulomb) constant",
               .details =
                   "Left out in a case file, `solar-system` takes k² = 0.01720209895² au³/(M☉ day²) and "
                   "`file` what the file says.",
               .open = true,
               .case_key = true,
               .of_kernel = moves_bodies,
               .force = in<&ForceOptions::G>},
    OptionInfo{.name = "softening",
               .type = OptionType::number,
               .text = "Plummer softening ε, in the length unit of the points",
               .details = "0 = none.",
               .unit = "length",
               .case_key = true,
               .of_kernel = moves_bodies,
               .sum = in<&SumOptions::softening>,
               .force = in<&ForceOptions::softening>},
    OptionInfo{.name = "sigma",
               .type = OptionType::number,
               .text = "Width σ of Gaussians, or of the core of vortices, in the length unit of the points",
               .details =
                   "`gauss` needs it. `vortex2d` without it sums point vortices. No other kernel takes it.",
               .unit = "length",
               .open = true,
               .otherwise = "none",
               .example = "0.05",
               .case_key = true,
               .of_kernel = moves_vortices,
               .sum = in<&SumOptions::sigma>,
               .force = in<&ForceOptions::sigma>},
    OptionInfo{
        .name = "period",
        .type = OptionType::lengths,
        .text = "Lengths of a periodic box: one for all axes, or three (x,y,z), 0 along open axes",
        .details =
            "All images of all sources act, a point's own images, too. `coulomb` takes it, whose "
            "strengths then sum to 0 (or need `background`); so does `gravity` with `background`. Boxes "
            "that are open along some axes are for `direct` and `fmm`, and have no background. In a "
            "simulation bodies that leave the box come back on the other side.",
        .unit = "length",
        .otherwise = "none",
        .example = "[10.0, 10.0, 20.0]",
        .case_key = true,
        .of_kernel = moves_bodies,
        .sum = in<&SumOptions::period>,
        .force = in<&ForceOptions::period>},
    OptionInfo{.name = "boundary",
               .type = OptionType::choice,
               .text = "What lies around the images of a periodic box",
               .details = "`tin-foil` is a conductor. `vacuum` adds 2π|M|²/3V to the energy, with the dipole "
                          "moment M of the positions as they are given; simulations do not take it.",
               .choices = names_of<Boundary>,
               .case_key = true,
               .of_kernel = moves_bodies,
               .belongs_to = "period",
               .sum = in<&SumOptions::boundary>,
               .force = in<&ForceOptions::boundary>},
    OptionInfo{.name = "background",
               .type = OptionType::choice,
               .text = "What a periodic box holds beside its sources",
               .details = "`uniform`: the opposite of all strengths, spread evenly.",
               .choices = names_of<Background>,
               .case_key = true,
               .of_kernel = moves_bodies,
               .belongs_to = "period",
               .sum = in<&SumOptions::background>,
               .force = in<&ForceOptions::background>},
    OptionInfo{.name = "self_term",
               .type = OptionType::choice,
               .text = "Whether a point counts itself where targets are the sources",
               .details = "`gauss` alone has it. `exclude` gives leave-one-out sums.",
               .choices = names_of<SelfTerm>,
               .sum = in<&SumOptions::self_term>},
    OptionInfo{.name = "viscosity",
               .type = OptionType::number,
               .text = "Viscosity ν of the flow of vortices",
               .details = "Cores spread: σ² grows by 2ν a unit of time. It needs `sigma`. 0 = inviscid.",
               .unit = "length²/time",
               .case_key = true,
               .of_kernel = moves_vortices,
               .force = in<&ForceOptions::viscosity>},
    OptionInfo{.name = "reinitialise",
               .type = OptionType::choice,
               .text = "How vortices are placed anew where their cores have spread",
               .details =
                   "`rbf`: on a lattice, with cores as at the start that interpolate the vorticity by their "
                   "Gaussians. It needs `viscosity`.",
               .choices = names_of<Reinitialise>,
               .case_key = true,
               .of_kernel = moves_vortices,
               .force = in<&ForceOptions::reinitialise>},
    OptionInfo{.name = "core_growth",
               .type = OptionType::number,
               .text = "Growth of σ after which vortices are placed anew",
               .details = "By default √2: when σ² has doubled.",
               .least = 1.05,
               .most = 10.0,
               .case_key = true,
               .of_kernel = moves_vortices,
               .belongs_to = "reinitialise",
               .force = in<&ForceOptions::core_growth>},
    OptionInfo{.name = "overlap",
               .type = OptionType::number,
               .text = "Spacing of the new vortices over `sigma`",
               .details = "Less is more accurate, and more vortices: 0.8 interpolates one Gaussian to 5e-7, "
                          "0.9 to 1e-5, 1 to "
                          "1e-4.",
               .least = 0.3,
               .most = 1.5,
               .case_key = true,
               .of_kernel = moves_vortices,
               .belongs_to = "reinitialise",
               .force = in<&ForceOptions::overlap>},
    OptionInfo{.name = "vorticity_threshold",
               .type = OptionType::number,
               .text = "Share of the largest vorticity above which there are new vortices",
               .details = "A hundredth of `residual_tolerance`, about.",
               .most = 0.01,
               .open = true,
               .case_key = true,
               .of_kernel = moves_vortices,
               .belongs_to = "reinitialise",
               .force = in<&ForceOptions::vorticity_threshold>},
    OptionInfo{.name = "residual_tolerance",
               .type = OptionType::number,
               .text = "Largest relative residual of the vorticity at the new vortices",
               .details = "In the L2 norm. A run that misses it fails.",
               .most = 0.1,
               .open = true,
               .case_key = true,
               .of_kernel = moves_vortices,
               .belongs_to = "reinitialise",
               .force = in<&ForceOptions::residual_tolerance>},
    OptionInfo{.name = "tolerance",
               .type = OptionType::number,
               .text = "Compare with exact sums at sampled targets; fail where the relative error is larger",
               .details =
                   "Every output is compared, once a plan, and the report tells the errors. A simulation "
                   "compares accelerations and potentials at its start and at each row of diagnostics.",
               .open = true,
               .otherwise = "none",
               .example = "1e-6",
               .case_key = true,
               .sum = in<&SumOptions::tolerance>,
               .force = in<&ForceOptions::tolerance>},
    OptionInfo{.name = "relative_to",
               .type = OptionType::choice,
               .text = "What the largest error of `gauss` is compared with",
               .details =
                   "`max` is the largest value of the output, `sum` is what all strengths would give at "
                   "one place: Σ|q| for the potential, Σ|q|/(σ√e) for the gradient.",
               .choices = names_of<RelativeTo>,
               .sum = in<&SumOptions::relative_to>},
    OptionInfo{
        .name = "guaranteed",
        .type = OptionType::flag,
        .text = "Fast multipole: bounds of the errors have to be within the tolerance, not samples alone",
        .details = "It needs a tolerance and no softening. Separation and precision that are left open are 2 "
                   "and `double`.",
        .sum = in<&SumOptions::guaranteed>},
    OptionInfo{.name = "order",
               .type = OptionType::count,
               .text = "Fast multipole, tree code: order p of the expansions; PME: of the splines",
               .details = "They have (p + 1)² coefficients, in the plane p + 1. 0 = what the tolerance asks "
                          "for, 1e-6 without one. The tree code takes up to 12, and 3 without a tolerance; "
                          "splines have 4 to 14, by the cost table.",
               .most = 40,
               .case_key = true,
               .of_method = Method::fmm,
               .and_method = Method::treecode,
               .third_method = Method::pme,
               .sum = in<&SumOptions::order>,
               .force = in<&ForceOptions::order>},
    OptionInfo{.name = "depth",
               .type = OptionType::count,
               .text = "Fast multipole: a uniform tree of this depth, whose leaves are 8^depth cells, "
                       "in the plane 4^depth",
               .least = 0,
               .most = 9,
               .otherwise = "a tree that follows the points",
               .of_method = Method::fmm,
               .sum = in<&SumOptions::depth>},
    OptionInfo{.name = "separation",
               .type = OptionType::count,
               .text = "Fast multipole: cells up to this distance act point by point (ws of the papers)",
               .details = "1 or 2; 0 = 1.",
               .most = 2,
               .case_key = true,
               .of_method = Method::fmm,
               .sum = in<&SumOptions::separation>,
               .force = in<&ForceOptions::separation>},
    OptionInfo{.name = "leaf",
               .type = OptionType::count,
               .text = "Fast multipole, tree code: points of a leaf of the tree, about",
               .details = "0 = what takes least time by the cost table.",
               .most = 1e6,
               .case_key = true,
               .of_method = Method::fmm,
               .and_method = Method::treecode,
               .sum = in<&SumOptions::leaf>,
               .force = in<&ForceOptions::leaf>},
    OptionInfo{
        .name = "grading",
        .type = OptionType::number,
        .text =
            "Fast multipole: far cells get lower orders, as for sources at this distance from their centre",
        .details = "In widths of a cell; 0 gives all of them the whole order.",
        .most = 0.9,
        .case_key = true,
        .of_method = Method::fmm,
        .sum = in<&SumOptions::grading>,
        .force = in<&ForceOptions::grading>},
    OptionInfo{
        .name = "m2l",
        .type = OptionType::choice,
        .text = "Fast multipole: how multipole expansions become local ones",
        .details =
            "`mirrored` takes one product for up to eight offsets, O(p⁴), `rotation` turns each offset to "
            "the z axis, O(p³), `matrix` takes a product for each offset, O(p⁴), and is there to compare "
            "with. `auto` takes `mirrored` or `rotation`, whichever is faster by the cost table. What "
            "softening adds to 1/r is `mirrored` in any case. On a GPU there is no `rotation`, and `auto` "
            "takes `matrix` on tensor cores for short expansions.",
        .choices = names_of<M2L>,
        .case_key = true,
        .of_method = Method::fmm,
        .sum = in<&SumOptions::m2l>,
        .force = in<&ForceOptions::m2l>},
    OptionInfo{.name = "strategy",
               .type = OptionType::choice,
               .text = "Fast Gauss transform: how it sums",
               .details =
                   "`grid` takes a regular grid, for wide Gaussians. `pairs` takes pairs up to a cut-off, "
                   "for narrow ones. `clusters` takes expansions of clusters of sources, for wide ones in "
                   "four to six dimensions. `boxes` takes Hermite and Taylor expansions of boxes, for narrow "
                   "ones among points that lie densely in places. `auto` takes what ends first by the cost "
                   "table.",
               .choices = names_of<GaussStrategy>,
               .of_method = Method::fgt,
               .sum = in<&SumOptions::strategy>},
    OptionInfo{.name = "theta",
               .type = OptionType::number,
               .text = "Tree code: opening angle θ, below which cells act by their expansions",
               .details = "The size of a cell, 2/√3 times the radius of its bodies, over its distance; the "
                          "size of a cell that is evenly filled is its width. Left out: as a tolerance "
                          "asks, 0.5 without one.",
               .most = 1.0,
               .open = true,
               .otherwise = "none",
               .example = "0.5",
               .case_key = true,
               .of_method = Method::treecode,
               .sum = in<&SumOptions::theta>,
               .force = in<&ForceOptions::theta>},
    OptionInfo{.name = "precision",
               .type = OptionType::choice,
               .text = "Arithmetic of the pair loop",
               .details =
                   "`mixed` takes differences of coordinates from pairs of floats, so that rounding the "
                   "inputs loses no accuracy, and does the rest as `float` does; it costs some operations "
                   "a pair more than `float`. `auto` is `double`, but `mixed` with a tolerance of 5e-6 or "
                   "more, unless that falls short.",
               .choices = names_of<Precision>,
               .case_key = true,
               .sum = in<&SumOptions::precision>,
               .force = in<&ForceOptions::precision>},
    OptionInfo{.name = "coincident",
               .type = OptionType::choice,
               .text = "What distinct points at one place do without softening",
               .details = "`error` names both rows; `skip` leaves such pairs out and counts them.",
               .choices = names_of<Coincident>,
               .sum = in<&SumOptions::coincident>},
    OptionInfo{.name = "device",
               .type = OptionType::device,
               .text = "Where to compute, also cuda:1 or cuda:0,1; auto decides by time",
               .details =
                   "`cuda` is the first GPU, `cuda:0,1` are two; `auto` takes a GPU where it is faster.",
               .machine = true,
               .case_key = true,
               .sum = in<&SumOptions::device>,
               .force = in<&ForceOptions::device>},
    OptionInfo{.name = "multi_gpu",
               .type = OptionType::choice,
               .text = "Several GPUs: a CPU thread each, or one for all",
               .choices = names_of<MultiGpu>,
               .machine = true,
               .case_key = true,
               .sum = in<&SumOptions::multi_gpu>,
               .force = in<&ForceOptions::multi_gpu>},
    OptionInfo{.name = "exchange",
               .type = OptionType::choice,
               .text = "Several GPUs: how they exchange data",
               .details =
                   "Positions travel by pinned memory (`host`, `mapped`, `write-combined`) or from GPU to "
                   "GPU (`peer`). `auto` takes `peer` where they can. Method `fmm` has one way by the host.",
               .choices = names_of<Exchange>,
               .machine = true,
               .case_key = true,
               .sum = in<&SumOptions::exchange>,
               .force = in<&ForceOptions::exchange>},
    OptionInfo{.name = "mpi_gpu",
               .type = OptionType::choice,
               .text = "Ranks: whether messages hold memory of their GPUs",
               .details = "Else they hold copies in pinned memory of the host. `auto`: where the MPI says "
                          "that it can; `on` is refused elsewhere. GPUs that read each other's memory "
                          "need no such messages.",
               .choices = names_of<MpiGpu>,
               .machine = true,
               .case_key = true,
               .sum = in<&SumOptions::mpi_gpu>,
               .force = in<&ForceOptions::mpi_gpu>},
    OptionInfo{
        .name = "threads",
        .type = OptionType::count,
        .text = "Threads to use; by default all cores (or OMP_NUM_THREADS)",
        .details =
            "Results have the same bits for any number. By default a sum that is too short to gain from a "
            "second thread takes one.",
        .least = 1,
        .most = 4096,
        .otherwise = "all cores",
        .machine = true,
        .sum = in<&SumOptions::threads>,
        .force = in<&ForceOptions::threads>},
    OptionInfo{.name = "isa",
               .type = OptionType::choice,
               .text = "Instruction set of the pair loops; auto takes the best this CPU has",
               .choices = names_of<Isa>,
               .machine = true,
               .sum = in<&SumOptions::isa>,
               .force = in<&ForceOptions::isa>},
    OptionInfo{.name = "variant",
               .type = OptionType::choice,
               .text = "Rung of the ladder of direct sums; auto takes the fastest",
               .details =
                   "`direct` alone has it. Simulations take every rung on one GPU, on several `symmetric` or "
                   "`register-tile`.",
               .choices = names_of<Variant>,
               .case_key = true,
               .sum = in<&SumOptions::variant>,
               .force = in<&ForceOptions::variant>},
};

double as_number(const OptionValue& value) {
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? *number : static_cast<double>(std::get<std::int64_t>(value));
}

// What does nothing without another option is refused without it.
template <class Options>
void check_belongs(const OptionInfo& row, const OptionValue& value, const Options& options) {
    if (row.belongs_to.empty() || value == row.in<Options>().get(Options{})) return;
    const auto& owner = find_option(row.belongs_to)->in<Options>();
    const auto by_default = owner.get(Options{});
    if (owner.get(options) == by_default)
        throw InvalidArgument(fmt::format("{} is not used with {}; leave it out",
                                          spelled(row.name, text_of(value)),
                                          spelled(row.belongs_to, text_of(by_default))));
}

// Choices cannot be wrong once they are read.
template <class Options>
void check(const Options& options) {
    const Options defaults;
    for (const auto& row : option_rows) {
        const auto& member = row.template in<Options>();
        if (!member) continue;
        OptionValue value;
        try {
            value = member.get(options);
        } catch (const InvalidArgument& error) {
            throw InvalidArgument(fmt::format("{}: {}", spelled(row.name), error.what()));
        }
        const auto of_method = row.of_method.value_or(options.method);
        if (!row.is_of(options.method) && value != member.get(defaults))
            throw InvalidArgument(fmt::format("{} belongs to method '{}'; leave it out or use {}",
                                              spelled(row.name, text_of(value)), name_of(of_method),
                                              spelled("method", name_of(of_method))));
        if constexpr (std::is_same_v<Options, ForceOptions>)
            if (row.of_kernel != nullptr && !row.of_kernel(options.kernel) && value != member.get(defaults))
                throw InvalidArgument(fmt::format("{} is not used with {}; leave it out",
                                                  spelled(row.name, text_of(value)),
                                                  spelled("kernel", name_of(options.kernel))));
        check_belongs(row, value, options);
        if (const auto* choice = std::get_if<std::string>(&value)) {
            const auto able = row.force_choices != nullptr && std::is_same_v<Options, ForceOptions>
                                  ? row.force_choices()
                                  : std::vector<std::string_view>{*choice};
            if (std::find(able.begin(), able.end(), *choice) == able.end())
                throw InvalidArgument(fmt::format("{} is '{}'; a force takes {}", spelled(row.name), *choice,
                                                  joined(able, ", ")));
            continue;
        }
        if (row.allows(value)) continue;
        const auto by_default = member.get(defaults);
        if (value == by_default) continue;
        const auto none = row.otherwise.empty()
                              ? std::string()
                              : fmt::format(", or {} for {}", text_of(by_default), row.otherwise);
        throw InvalidArgument(fmt::format("{} is {}; it must be a {} {}{}", spelled(row.name), text_of(value),
                                          row.type == OptionType::count ? "whole number" : "finite number",
                                          row.range(), none));
    }
}

} // namespace

std::string text_of(const OptionValue& value) {
    return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

bool OptionInfo::is_of(Method method) const {
    return method == Method::automatic || !of_method || *of_method == method || and_method == method ||
           third_method == method;
}

std::string OptionInfo::flag() const {
    auto out = "--" + std::string(name);
    std::replace(out.begin(), out.end(), '_', '-');
    return out;
}

bool OptionInfo::allows(const OptionValue& value) const {
    if (const auto* spelling = std::get_if<std::string>(&value)) {
        if (type == OptionType::lengths) return lengths_from_text(*spelling) != Lengths{};
        if (choices == nullptr) return true;
        const auto names = choices();
        return std::find(names.begin(), names.end(), *spelling) != names.end();
    }
    if (std::holds_alternative<bool>(value)) return true;
    const double number = as_number(value);
    return std::isfinite(number) && (open ? number > least : number >= least) && number <= most;
}

std::string OptionInfo::range() const {
    if (std::isfinite(most) && !open) return fmt::format("from {} to {}", least, most);
    const auto above = fmt::format("{} {}", open ? ">" : "≥", least);
    return std::isfinite(most) ? fmt::format("{} and ≤ {}", above, most) : above;
}

std::span<const OptionInfo> option_table() { return option_rows; }

const OptionInfo* find_option(std::string_view name) {
    const auto* found = std::find_if(option_rows.begin(), option_rows.end(),
                                     [&](const OptionInfo& row) { return row.name == name; });
    return found == option_rows.end() ? nullptr : found;
}

void check_options(const SumOptions& options) { check(options); }
void check_options(const ForceOptions& options) { check(options); }

} // namespace farfield
