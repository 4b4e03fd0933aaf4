// Rules that concern several keys at once: what is missing, what would be ignored, what contradicts.
#include "dynamics/case_file/checks.h"

#include "base/text.h"
#include "dynamics/propagators/periodic_boxes.h"

#include <farfield/error.h>
#include <farfield/options.h>

#include <fmt/format.h>

#include <vector>

namespace farfield::case_file {
namespace {

const Entry* entry_for(std::span<const Entry> entries, std::string_view section, std::string_view name) {
    for (const auto& entry : entries)
        if (entry.key->section == section && entry.key->name == name) return &entry;
    return nullptr;
}

void check_required(const Case& simulation_case, std::span<const Entry> entries, const std::string& file) {
    for (const auto& key : keys()) {
        const bool by_kind = (key.required_by & bit(simulation_case.initial.kind)) != 0;
        if (!key.required && !by_kind) continue;
        if (entry_for(entries, key.section, key.name) != nullptr) continue;
        const auto why =
            by_kind ? fmt::format(" (kind = \"{}\" needs it)", name_of(simulation_case.initial.kind)) : "";
        throw InvalidArgument(fmt::format("{}: {} is missing{}; add {} = {} to [{}]", file, full_name(key),
                                          why, key.name, key.example, key.section));
    }
}

std::string keys_used_by(const InitialOptions& initial) {
    std::vector<std::string_view> used;
    for (const auto& key : keys())
        if (key.kinds != 0 && used_by(key, initial)) used.push_back(key.name);
    if (used.empty()) return "it uses no other key";
    return "it uses " + list_of_words(used);
}

void check_used(const Case& simulation_case, std::span<const Entry> entries) {
    for (const auto& entry : entries)
        if (!used_by(*entry.key, simulation_case.initial))
            throw InvalidArgument(fmt::format(
                "{}: {} is not used by kind = \"{}\" ({}); remove it", entry.place, full_name(*entry.key),
                name_of(simulation_case.initial.kind), keys_used_by(simulation_case.initial)));
}

// A run of vortices has its own integrator and keys; other kernels have no use for cores.
void check_kernel(const Case& simulation_case, std::span<const Entry> entries) {
    const auto kernel = simulation_case.force.kernel;
    for (const auto& entry : entries)
        if (!used_by(*entry.key, kernel))
            throw InvalidArgument(fmt::format("{}: {} is not used by kernel = \"{}\"; remove it", entry.place,
                                              full_name(*entry.key), name_of(kernel)));
    const auto* integrator = entry_for(entries, "time", "integrator");
    if (facts_of(kernel).moves_vortices && integrator != nullptr &&
        simulation_case.time.integrator != Integrator::rk4)
        throw InvalidArgument(fmt::format(
            "{}: time.integrator = \"{}\" moves bodies that have velocities of their own; vortices move with "
            "the flow: use \"rk4\", or leave it out",
            integrator->place, name_of(simulation_case.time.integrator)));
    const auto* viscosity = entry_for(entries, "force", "viscosity");
    if (viscosity != nullptr && simulation_case.force.viscosity > 0.0 && simulation_case.force.sigma == 0.0)
        throw InvalidArgument(
            fmt::format("{}: force.viscosity spreads the cores of vortices, and points have "
                        "none: give force.sigma > 0, or leave the viscosity out",
                        viscosity->place));
    const auto* anew = entry_for(entries, "force", "reinitialise");
    if (anew != nullptr && simulation_case.force.reinitialise != Reinitialise::none &&
        !(simulation_case.force.viscosity > 0.0))
        throw InvalidArgument(
            fmt::format("{}: force.reinitialise places vortices anew where viscosity has spread their cores: "
                        "give force.viscosity > 0, or leave it out",
                        anew->place));
}

void check_initial(const Case& simulation_case, std::span<const Entry> entries) {
    const auto& initial = simulation_case.initial;
    const auto* negative = entry_for(entries, "initial", "negative_fraction");
    if (negative != nullptr && initial.charge == 0.0)
        throw InvalidArgument(fmt::format(
            "{}: initial.negative_fraction is not used without charge > 0; remove it", negative->place));
    const auto* impact = entry_for(entries, "initial", "impact_parameter");
    if (impact != nullptr && initial.impact_parameter > initial.separation)
        throw InvalidArgument(
            fmt::format("{}: initial.impact_parameter = {} is not allowed: it must be ≤ the separation, {}",
                        impact->place, initial.impact_parameter, initial.separation));
}

// A file has all three units or none: G needs them all.
void check_units(std::span<const Entry> entries) {
    const Entry* given = nullptr;
    std::vector<std::string_view> missing;
    for (const auto* name : {"length_unit", "mass_unit", "velocity_unit"}) {
        const auto* entry = entry_for(entries, "initial", name);
        if (entry == nullptr)
            missing.emplace_back(name);
        else
            given = entry;
    }
    if (given != nullptr && !missing.empty())
        throw InvalidArgument(fmt::format("{}: {} needs {} as well; give all three units", given->place,
                                          full_name(*given->key), joined(missing, " and ")));
}

// Which boxes simulations take, said of the line that asks for one.
void check_box(const Case& simulation_case, std::span<const Entry> entries, const std::string& file) {
    const auto& force = simulation_case.force;
    const auto* period = entry_for(entries, "force", "period");
    for (const auto* name : {"boundary", "background"})
        if (const auto* entry = entry_for(entries, "force", name); entry != nullptr && period == nullptr)
            throw InvalidArgument(fmt::format(
                "{}: {} is not used without force.period; remove it, or give the lengths of a box",
                entry->place, full_name(*entry->key)));
    if (simulation_case.initial.kind == InitialKind::plasma && period == nullptr &&
        entry_for(entries, "initial", "box") == nullptr)
        throw InvalidArgument(fmt::format(
            "{}: a kind = \"{}\" fills a box: give force.period, for a periodic one, or initial.box", file,
            name_of(simulation_case.initial.kind)));
    if (period == nullptr) return;
    try {
        check_period(force, simulation_case.time.integrator);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(fmt::format("{}: {}", period->place, error.what()));
    }
}

void check_time(const Case& simulation_case, std::span<const Entry> entries) {
    const auto& time = simulation_case.time;
    const auto* end = entry_for(entries, "time", "end");
    if (end != nullptr && simulation_case.initial.kind != InitialKind::file && time.end < 0)
        throw InvalidArgument(
            fmt::format("{}: time.end = {} is before the start: a kind = \"{}\" begins at time "
                        "0, so end must be ≥ 0",
                        end->place, time.end, name_of(simulation_case.initial.kind)));
    if (time.adaptive && facts_of(simulation_case.force.kernel).moves_vortices)
        throw InvalidArgument(fmt::format("{}: vortices take fixed steps; remove time.adaptive",
                                          entry_for(entries, "time", "adaptive")->place));
    if (time.adaptive && time.integrator != Integrator::hermite4)
        throw InvalidArgument(fmt::format(
            "{}: time.adaptive = true works with integrator = \"hermite4\" only, not with \"{}\"; "
            "change one of the two",
            entry_for(entries, "time", "adaptive")->place, name_of(time.integrator)));
    const auto* eta = entry_for(entries, "time", "eta");
    if (eta != nullptr && !time.adaptive)
        throw InvalidArgument(
            fmt::format("{}: time.eta is not used without adaptive = true; remove it", eta->place));
}

} // namespace

void check_together(const Case& simulation_case, std::span<const Entry> entries, const std::string& file) {
    check_required(simulation_case, entries, file);
    check_used(simulation_case, entries);
    check_initial(simulation_case, entries);
    check_units(entries);
    check_kernel(simulation_case, entries);
    check_box(simulation_case, entries, file);
    check_time(simulation_case, entries);
}

} // namespace farfield::case_file
