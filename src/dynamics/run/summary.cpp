#include "dynamics/run/summary.h"

#include "base/json.h"
#include "base/machine.h"
#include "dynamics/bodies/box.h"
#include "dynamics/run/case_text.h"
#include "io/atomic_file.h"

#include <farfield/farfield.h>

#include <string>
#include <sys/utsname.h>
#include <thread>

namespace farfield {
namespace {

Json machine() {
    utsname system{};
    Json out{{"cpu", this_machine().cpu}, {"logical_cpus", std::thread::hardware_concurrency()}};
    if (uname(&system) == 0) {
        out["system"] = std::string(system.sysname) + " " + system.release;
        out["architecture"] = system.machine;
    }
    return out;
}

// TOML's booleans, numbers and the strings we write are JSON too.
Json options(const Case& simulation_case) {
    Json out = Json::object();
    for (const auto& entry : case_entries(simulation_case)) {
        auto& place = entry.section.empty() ? out : out[entry.section];
        place[entry.key] = Json::read_or_text(entry.value);
    }
    return out;
}

// Nothing for N-body units, which have no size.
Json units_of(const Units& units) {
    if (!are_physical(units)) return {};
    return {{"length", {{"name", units.length.name}, {"cm", units.length.in_cgs}}},
            {"mass", {{"name", units.mass.name}, {"g", units.mass.in_cgs}}},
            {"velocity", {{"name", units.velocity.name}, {"cm_per_s", units.velocity.in_cgs}}}};
}

// What was settled of the forces, and with a tolerance how far they were off at most.
Json force_of(const ForceSettings& force, double tolerance, bool vortices) {
    Json out{{"method", name_of(force.method)}, {"method_reason", force.reason}};
    if (force.order > 0) out["order"] = force.order;
    if (force.leaf > 0) out["leaf"] = force.leaf;
    if (force.m2l != M2L::automatic) out["m2l"] = name_of(force.m2l);
    if (force.aim > 0.0) out["aim"] = force.aim;
    if (tolerance > 0.0)
        out["largest_relative_errors"] = {
            {vortices ? "velocity" : "acceleration", force.worst_acceleration_error},
            {vortices ? "stream_function" : "potential", force.worst_potential_error}};
    return out;
}

// How often vortices were placed anew, and what was reached.
Json reinitialisations_of(const Reinitialisations& done, const ForceOptions& force) {
    if (force.reinitialise == Reinitialise::none) return {};
    return {{"count", done.count},
            {"largest_residual", done.largest_residual},
            {"largest_vorticity_error", done.largest_vorticity_error},
            {"most_iterations", done.most_iterations},
            {"predicted_bytes", done.predicted_bytes}};
}

Json energies(const Diagnostics& row, bool periodic) {
    if (row.vortices)
        return {{"circulation", row.vortices->circulation},
                {"impulse", row.vortices->impulse},
                {"angular_impulse", row.vortices->angular_impulse},
                {"hamiltonian", row.total},
                {"sigma", row.vortices->sigma}};
    Json out{{"kinetic", row.kinetic},
             {"potential", row.potential},
             {"total", row.total},
             {"momentum", row.momentum}};
    if (periodic) return out;
    out["angular_momentum"] = row.angular_momentum;
    out["virial_ratio"] = row.virial_ratio;
    out["lagrangian_radii"] = row.lagrangian_radii;
    return out;
}

} // namespace

void write_summary(const RunFolder& folder, const Case& simulation_case, const RunSummary& summary) {
    Json out;
    out["farfield"] = std::string(version());
    out["finished"] = summary.finished;
    out["time"] = summary.time;
    out["steps"] = summary.steps;
    out["bodies"] = summary.bodies;
    out["relative_energy_error"] = summary.relative_energy_error;
    out["energy_error"] = summary.energy_error;
    out["last_diagnostics"] = energies(summary.last_row, is_periodic(simulation_case.force.period));
    out["machine"] = machine();
    out["backend"] = {{"device", name_of(DeviceChoice{.kind = summary.backend.device})},
                      {"isa", name_of(summary.backend.isa)},
                      {"variant", name_of(summary.backend.variant)},
                      {"precision", name_of(summary.backend.precision)},
                      {"ranks", summary.ranks},
                      {"threads", summary.threads},
                      {"cost_table", summary.cost_table.empty() ? Json() : Json(summary.cost_table)}};
    out["force"] =
        force_of(summary.force, simulation_case.force.tolerance, summary.last_row.vortices.has_value());
    if (const auto done = reinitialisations_of(summary.reinitialised, simulation_case.force); !done.is_null())
        out["reinitialisations"] = done;
    out["units"] = units_of(summary.origin.units);
    out["G"] = {{"value", simulation_case.force.G}, {"origin", summary.origin.G}};
    out["options"] = options(simulation_case);
    if (summary.restarted_from_step) out["restarted_from_step"] = *summary.restarted_from_step;
    out["this_process"] = {
        {"steps", summary.steps_here},
        {"seconds", summary.seconds},
        {"force_seconds", summary.force_seconds},
        {"output_seconds", summary.output_seconds},
        {"pairs", summary.pairs},
        {"pairs_per_second", summary.force_seconds > 0.0 ? summary.pairs / summary.force_seconds : 0.0}};
    out["notes"] = summary.notes;
    out["warnings"] = summary.warnings;
    Json files = Json::array();
    for (const auto& file : summary.files) files.push_back(file.filename().string());
    out["files"] = std::move(files);
    write_file_atomically(folder.summary(), out.dump(2) + "\n");
}

} // namespace farfield
