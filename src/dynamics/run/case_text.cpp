#include "dynamics/run/case_text.h"

#include "dynamics/case_file/keys.h"
#include "dynamics/case_file/toml_text.h"
#include "sums/lengths.h"

#include <farfield/options.h>

#include <fmt/format.h>

#include <filesystem>
#include <map>

namespace farfield {
namespace {

std::string truth(bool value) { return value ? "true" : "false"; }

class Entries {
public:
    std::vector<CaseEntry> list;
    std::string_view section;

    void add(std::string_view key, std::string value) {
        list.push_back({section, key, std::move(value), false});
    }
    void decide(std::string_view key, std::string value) {
        list.push_back({section, key, std::move(value), true});
    }
};

void add_initial(Entries& out, const InitialOptions& initial) {
    out.section = "initial";
    out.decide("kind", toml_string(name_of(initial.kind)));
    out.decide("path", toml_string(std::filesystem::absolute(initial.path.empty() ? "." : initial.path)
                                       .lexically_normal()
                                       .string()));
    if (!initial.length_unit.empty()) out.decide("length_unit", toml_string(initial.length_unit));
    if (!initial.mass_unit.empty()) out.decide("mass_unit", toml_string(initial.mass_unit));
    if (!initial.velocity_unit.empty()) out.decide("velocity_unit", toml_string(initial.velocity_unit));
    out.decide("n", std::to_string(initial.n));
    out.decide("seed", std::to_string(initial.seed));
    out.decide("cutoff_radius", toml_number(initial.cutoff_radius));
    out.decide("virial_ratio", toml_number(initial.virial_ratio));
    out.decide("charge", toml_number(initial.charge));
    out.decide("negative_fraction", toml_number(initial.negative_fraction));
    out.decide("w0", toml_number(initial.w0));
    out.decide("model", toml_string(name_of(initial.model)));
    out.decide("mass_ratio", toml_number(initial.mass_ratio));
    out.decide("separation", toml_number(initial.separation));
    out.decide("impact_parameter", toml_number(initial.impact_parameter));
    out.decide("relative_speed", toml_number(initial.relative_speed));
    if (initial.box != std::array<double, 3>{}) out.decide("box", toml_lengths(text_of_lengths(initial.box)));
    out.decide("particle_mass", toml_number(initial.particle_mass));
    out.decide("particle_charge", toml_number(initial.particle_charge));
    out.decide("temperature", toml_number(initial.temperature));
    out.decide("circulation", toml_number(initial.circulation));
    out.decide("circulation_ratio", toml_number(initial.circulation_ratio));
    out.decide("distance", toml_number(initial.distance));
    out.decide("width_ratio", toml_number(initial.width_ratio));
    out.decide("length", toml_number(initial.length));
    out.decide("amplitude", toml_number(initial.amplitude));
    out.decide("waves", std::to_string(initial.waves));
    out.decide("radius", toml_number(initial.radius));
    std::erase_if(out.list, [&](const CaseEntry& entry) {
        const auto* key = case_file::find_key(entry.section, entry.key);
        return key != nullptr && !case_file::used_by(*key, initial);
    });
}

void add_force(Entries& out, const ForceOptions& force) {
    out.section = "force";
    for (const auto& option : option_table()) {
        if (!option.case_key) continue;
        if (option.of_kernel != nullptr && !option.of_kernel(force.kernel)) continue;
        const auto value = option.force.get(force);
        if (!option.allows(value)) continue; // it stands for none
        if (!option.belongs_to.empty()) {
            const auto& owner = *find_option(option.belongs_to);
            if (!owner.allows(owner.force.get(force))) continue;
        }
        out.list.push_back({out.section, option.name, toml_value(option, value), !option.machine});
    }
}

std::map<std::string, std::string, std::less<>> lines_of(std::string_view text) {
    std::map<std::string, std::string, std::less<>> out;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const auto equals = line.find(" = ");
        if (equals != std::string_view::npos) out.emplace(line.substr(0, equals), line.substr(equals + 3));
    }
    return out;
}

} // namespace

std::vector<CaseEntry> case_entries(const Case& simulation_case) {
    Entries out;
    if (!simulation_case.name.empty())
        out.decide("name", toml_string(simulation_case.name)); // snapshots carry it
    add_initial(out, simulation_case.initial);

    add_force(out, simulation_case.force);

    const auto& time = simulation_case.time;
    out.section = "time";
    out.decide("integrator", toml_string(name_of(time.integrator)));
    out.decide("step", toml_number(time.step));
    out.add("end", toml_number(time.end));
    if (time.integrator == Integrator::hermite4) out.decide("adaptive", truth(time.adaptive));
    if (time.adaptive) out.decide("eta", toml_number(time.eta));

    const auto& output = simulation_case.output;
    out.section = "output";
    out.decide("snapshot_every", toml_number(output.snapshot_every));
    out.decide("diagnostics_every", toml_number(output.diagnostics_every));
    out.add("checkpoint_every", toml_number(output.checkpoint_every));
    out.add("checkpoint_clock", toml_number(output.checkpoint_clock));
    out.add("energy_warning", toml_number(output.energy_warning));
    out.add("pictures", truth(output.pictures));
    out.add("animation", truth(output.animation));
    if (output.pictures || output.animation) {
        out.add("plane", toml_string(output.plane));
        out.add("picture_width", toml_number(output.picture_width));
    }
    return out.list;
}

std::string case_toml(const Case& simulation_case) {
    std::string out = "# The case of the results in this folder, with every option it uses.\n";
    std::string_view section;
    for (const auto& entry : case_entries(simulation_case)) {
        if (entry.section != section) out += fmt::format("\n[{}]\n", entry.section);
        section = entry.section;
        out += fmt::format("{} = {}\n", entry.key, entry.value);
    }
    return out;
}

std::string deciding_text(const Case& simulation_case) {
    std::string out;
    for (const auto& entry : case_entries(simulation_case))
        if (entry.decides)
            out += fmt::format("{}{}{} = {}\n", entry.section, entry.section.empty() ? "" : ".", entry.key,
                               entry.value);
    return out;
}

std::string first_difference(std::string_view before, std::string_view now) {
    const auto old_values = lines_of(before);
    const auto new_values = lines_of(now);
    for (const auto& [key, value] : old_values) {
        const auto found = new_values.find(key);
        if (found == new_values.end()) return fmt::format("{} was {} and is not used now", key, value);
        if (found->second != value) return fmt::format("{} was {} and is {} now", key, value, found->second);
    }
    for (const auto& [key, value] : new_values)
        if (!old_values.contains(key)) return fmt::format("{} was not used and is {} now", key, value);
    return {};
}

} // namespace farfield
