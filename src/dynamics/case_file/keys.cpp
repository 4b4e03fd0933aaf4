// The table of case file keys. Those of [force] are the rows of the table of options (farfield/options.h);
// defaults written here are those of the option structs in farfield/run.h, and a test compares them.
#include "dynamics/case_file/keys.h"

#include "dynamics/case_file/toml_text.h"
#include "sums/lengths.h"

#include <farfield/options.h>

#include <fmt/format.h>

#include <array>

namespace farfield::case_file {
namespace {

using Kind = InitialKind;

constexpr AllowedRange positive{.low = 0.0, .low_open = true};
constexpr AllowedRange not_negative{.low = 0.0};
constexpr AllowedRange at_least_one{.low = 1.0};

constexpr KindSet models =
    bit(Kind::plummer) | bit(Kind::uniform_sphere) | bit(Kind::hernquist) | bit(Kind::king);
constexpr KindSet sampled = models | bit(Kind::two_clusters);
constexpr KindSet pair = bit(Kind::two_clusters);
constexpr KindSet in_box = bit(Kind::plasma);
constexpr KindSet of_n = sampled | in_box | bit(Kind::vortex_sheet) | bit(Kind::vortex_patch);

double number(const Value& value) { return std::get<double>(value); }
const std::string& text(const Value& value) { return std::get<std::string>(value); }

template <class Enum>
Enum choice(const Value& value) {
    return from_name<Enum>(text(value)).value(); // checked against names_of<Enum> before
}

std::vector<std::string_view> cluster_models() {
    return {name_of(Kind::plummer), name_of(Kind::uniform_sphere), name_of(Kind::hernquist),
            name_of(Kind::king)};
}

std::vector<std::string_view> planes() { return {"xy", "xz", "yz"}; }

const std::array before_force{
    Key{.section = "",
        .name = "name",
        .default_text = "the file's name",
        .example = "\"my-cluster\"",
        .doc = "Name of the case; the default output folder is called after it.",
        .assign = [](Case& c, const Value& v) { c.name = text(v); }},

    Key{.section = "initial",
        .name = "kind",
        .type = KeyType::choice,
        .choices = names_of<InitialKind>,
        .required = true,
        .example = "\"plummer\"",
        .doc = "Model the bodies are drawn from, or `file`.",
        .assign = [](Case& c, const Value& v) { c.initial.kind = choice<InitialKind>(v); }},
    Key{.section = "initial",
        .name = "n",
        .type = KeyType::integer,
        .range = at_least_one,
        .kinds = of_n,
        .required_by = of_n,
        .example = "4096",
        .unit = "bodies",
        .doc = "Number of bodies; of both clusters together for `two-clusters`; for `plasma` an even number; "
               "for "
               "`vortex-patch` a square number.",
        .assign = [](Case& c, const Value& v) { c.initial.n = std::get<std::int64_t>(v); }},
    Key{.section = "initial",
        .name = "seed",
        .type = KeyType::integer,
        .range = not_negative,
        .kinds = sampled | in_box,
        .default_text = "1",
        .doc = "Same seed, same bodies, bit for bit, on every machine.",
        .assign =
            [](Case& c, const Value& v) {
                c.initial.seed = static_cast<std::uint64_t>(std::get<std::int64_t>(v));
            }},
    Key{.section = "initial",
        .name = "cutoff_radius",
        .type = KeyType::number,
        .range = not_negative,
        .kinds = bit(Kind::plummer) | bit(Kind::hernquist),
        .default_text = "0.0",
        .unit = "length",
        .doc = "Largest radius sampled; 0 = none (`hernquist`: 0 = 100 scale lengths, otherwise ≥ 1.34).",
        .assign = [](Case& c, const Value& v) { c.initial.cutoff_radius = number(v); }},
    Key{.section = "initial",
        .name = "virial_ratio",
        .type = KeyType::number,
        .range = not_negative,
        .kinds = bit(Kind::uniform_sphere),
        .default_text = "0.5",
        .doc = "−T/V at the start: 0 = cold, 0.5 = equilibrium.",
        .assign = [](Case& c, const Value& v) { c.initial.virial_ratio = number(v); }},
    Key{.section = "initial",
        .name = "charge",
        .type = KeyType::number,
        .range = not_negative,
        .kinds = bit(Kind::uniform_sphere),
        .default_text = "0.0",
        .unit = "charge",
        .doc =
            "Magnitudes of all charges together; each body carries ±`charge`/`n`. 0 = bodies without charge.",
        .assign = [](Case& c, const Value& v) { c.initial.charge = number(v); }},
    Key{.section = "initial",
        .name = "negative_fraction",
        .type = KeyType::number,
        .range = {.low = 0.0, .high = 1.0},
        .kinds = bit(Kind::uniform_sphere),
        .default_text = "0.5",
        .doc = "Share of the bodies whose `charge` is negative.",
        .assign = [](Case& c, const Value& v) { c.initial.negative_fraction = number(v); }},
    Key{.section = "initial",
        .name = "w0",
        .type = KeyType::number,
        .range = {.low = 0.01, .high = 16.0},
        .kinds = bit(Kind::king),
        .default_text = "6.0",
        .doc = "Depth W₀ of the central potential; globular clusters have 3 to 9.",
        .assign = [](Case& c, const Value& v) { c.initial.w0 = number(v); }},
    Key{.section = "initial",
        .name = "model",
        .type = KeyType::choice,
        .choices = cluster_models,
        .kinds = pair,
        .default_text = "\"plummer\"",
        .doc = "Model of both clusters; its own keys (such as `w0`) are allowed too.",
        .assign = [](Case& c, const Value& v) { c.initial.model = choice<InitialKind>(v); }},
    Key{.section = "initial",
        .name = "mass_ratio",
        .type = KeyType::number,
        .range = {.low = 0.0, .high = 1.0, .low_open = true},
        .kinds = pair,
        .default_text = "1.0",
        .doc = "Mass of the second cluster over that of the first.",
        .assign = [](Case& c, const Value& v) { c.initial.mass_ratio = number(v); }},
    Key{.section = "initial",
        .name = "separation",
        .type = KeyType::number,
        .range = positive,
        .kinds = pair,
        .default_text = "10.0",
        .unit = "length",
        .doc = "Distance of the centres at the start.",
        .assign = [](Case& c, const Value& v) { c.initial.separation = number(v); }},
    Key{.section = "initial",
        .name = "impact_parameter",
        .type = KeyType::number,
        .range = not_negative,
        .kinds = pair,
        .default_text = "0.0",
        .unit = "length",
        .doc = "Offset of the two paths; 0 = head on.",
        .assign = [](Case& c, const Value& v) { c.initial.impact_parameter = number(v); }},
    Key{.section = "initial",
        .name = "relative_speed",
        .type = KeyType::number,
        .range = not_negative,
        .kinds = pair,
        .default_text = "0.0",
        .unit = "velocity",
        .doc = "Speed of approach; 0 = parabolic.",
        .assign = [](Case& c, const Value& v) { c.initial.relative_speed = number(v); }},
    Key{.section = "initial",
        .name = "box",
        .type = KeyType::lengths,
        .kinds = in_box,
        .default_text = "`force.period`",
        .example = "[10.0, 10.0, 20.0]",
        .unit = "length",
        .doc = "Lengths of the box that is filled: one for all axes, or three.",
        .assign = [](Case& c, const Value& v) { c.initial.box = lengths_from_text(text(v)); }},
    Key{.section = "initial",
        .name = "particle_mass",
        .type = KeyType::number,
        .range = positive,
        .kinds = in_box,
        .default_text = "1.0",
        .unit = "mass",
        .doc = "Mass of each body.",
        .assign = [](Case& c, const Value& v) { c.initial.particle_mass = number(v); }},
    Key{.section = "initial",
        .name = "particle_charge",
        .type = KeyType::number,
        .range = positive,
        .kinds = in_box,
        .default_text = "1.0",
        .unit = "charge",
        .doc = "Magnitude of each charge; half of them are negative.",
        .assign = [](Case& c, const Value& v) { c.initial.particle_charge = number(v); }},
    Key{.section = "initial",
        .name = "temperature",
        .type = KeyType::number,
        .range = not_negative,
        .kinds = in_box,
        .default_text = "1.0",
        .unit = "energy",
        .doc = "Temperature k_B T of the normal velocities at the start: T/`particle_mass` is their variance "
               "along an axis.",
        .assign = [](Case& c, const Value& v) { c.initial.temperature = number(v); }},
    Key{.section = "initial",
        .name = "path",
        .type = KeyType::path,
        .kinds = bit(Kind::file),
        .required_by = bit(Kind::file),
        .example = "\"bodies.csv\"",
        .doc = "File of bodies: `.h5`/`.hdf5` (GADGET-4), `.csv`, `.npy` or `.tipsy`, of vortices `.csv` "
               "with x, y, gamma, "
               "`.npy` N×3 or a snapshot; relative to the case "
               "file (in `--set`: to the current folder).",
        .assign = [](Case& c, const Value& v) { c.initial.path = text(v); }},
    Key{.section = "initial",
        .name = "length_unit",
        .type = KeyType::unit,
        .read_unit = length_unit,
        .kinds = bit(Kind::file),
        .default_text = "that of the file",
        .example = "\"kpc\"",
        .doc = "Unit of the coordinates of a file that does not state it, such as `\"kpc\"` or `\"3.1e18 "
               "cm\"`; all three units or none. `G` follows from them.",
        .assign = [](Case& c, const Value& v) { c.initial.length_unit = text(v); }},
    Key{.section = "initial",
        .name = "mass_unit",
        .type = KeyType::unit,
        .read_unit = mass_unit,
        .kinds = bit(Kind::file),
        .default_text = "that of the file",
        .example = "\"1e10 Msun\"",
        .doc = "Unit of its masses, such as `\"1e10 Msun\"`.",
        .assign = [](Case& c, const Value& v) { c.initial.mass_unit = text(v); }},
    Key{.section = "initial",
        .name = "velocity_unit",
        .type = KeyType::unit,
        .read_unit = velocity_unit,
        .kinds = bit(Kind::file),
        .default_text = "that of the file",
        .example = "\"km/s\"",
        .doc = "Unit of its velocities, such as `\"km/s\"` or `\"pc/Myr\"`; time is in length / velocity.",
        .assign = [](Case& c, const Value& v) { c.initial.velocity_unit = text(v); }},
};

const std::array after_force{
    Key{.section = "time",
        .name = "integrator",
        .type = KeyType::choice,
        .choices = names_of<Integrator>,
        .default_text = "\"leapfrog\"",
        .doc = "`leapfrog` (order 2, symplectic), `yoshida4` (order 4, symplectic), `hermite4` (order 4), "
               "`rk4` (order 4; "
               "vortices take it and no other).",
        .assign = [](Case& c, const Value& v) { c.time.integrator = choice<Integrator>(v); }},
    Key{.section = "time",
        .name = "step",
        .type = KeyType::number,
        .range = positive,
        .required = true,
        .example = "0.0009765625",
        .unit = "time",
        .doc = "Length of a step; with `adaptive` the largest step allowed.",
        .assign = [](Case& c, const Value& v) { c.time.step = number(v); }},
    Key{.section = "time",
        .name = "end",
        .type = KeyType::number,
        .required = true,
        .example = "4.0",
        .unit = "time",
        .doc = "Time at which the run ends; models start at 0, a snapshot at its own time.",
        .assign = [](Case& c, const Value& v) { c.time.end = number(v); }},
    Key{.section = "time",
        .name = "adaptive",
        .type = KeyType::boolean,
        .default_text = "false",
        .doc = "`hermite4` only: one shared step chosen by Aarseth's criterion.",
        .assign = [](Case& c, const Value& v) { c.time.adaptive = std::get<bool>(v); }},
    Key{.section = "time",
        .name = "eta",
        .type = KeyType::number,
        .range = positive,
        .default_text = "0.02",
        .doc = "Accuracy parameter η of that criterion; smaller = shorter steps.",
        .assign = [](Case& c, const Value& v) { c.time.eta = number(v); }},

    Key{.section = "output",
        .name = "snapshot_every",
        .type = KeyType::number,
        .range = not_negative,
        .default_text = "0.0",
        .unit = "time",
        .doc = "Interval of snapshots; 0 = only at the start and the end.",
        .assign = [](Case& c, const Value& v) { c.output.snapshot_every = number(v); }},
    Key{.section = "output",
        .name = "diagnostics_every",
        .type = KeyType::number,
        .range = not_negative,
        .default_text = "0.0",
        .unit = "time",
        .doc = "Interval of rows in diagnostics.csv; 0 = only at the start and the end.",
        .assign = [](Case& c, const Value& v) { c.output.diagnostics_every = number(v); }},
    Key{.section = "output",
        .name = "checkpoint_every",
        .type = KeyType::number,
        .range = not_negative,
        .default_text = "0.0",
        .unit = "time",
        .doc = "Interval of checkpoints; 0 = only by the clock, when interrupted and at the end.",
        .assign = [](Case& c, const Value& v) { c.output.checkpoint_every = number(v); }},
    Key{.section = "output",
        .name = "checkpoint_clock",
        .type = KeyType::number,
        .range = not_negative,
        .default_text = "600.0",
        .unit = "seconds",
        .doc = "Longest time of the clock between checkpoints; 0 = none by the clock.",
        .assign = [](Case& c, const Value& v) { c.output.checkpoint_clock = number(v); }},
    Key{.section = "output",
        .name = "energy_warning",
        .type = KeyType::number,
        .range = not_negative,
        .default_text = "0.01",
        .doc = "Error of the energy at the end that is warned of, relative to the energy at the start; 0 = "
               "never.",
        .assign = [](Case& c, const Value& v) { c.output.energy_warning = number(v); }},
    Key{.section = "output",
        .name = "pictures",
        .type = KeyType::boolean,
        .default_text = "true",
        .doc = "A PNG beside each snapshot.",
        .assign = [](Case& c, const Value& v) { c.output.pictures = std::get<bool>(v); }},
    Key{.section = "output",
        .name = "plane",
        .type = KeyType::choice,
        .choices = planes,
        .default_text = "\"xy\"",
        .doc = "Projection of the pictures.",
        .assign = [](Case& c, const Value& v) { c.output.plane = text(v); }},
    Key{.section = "output",
        .name = "picture_width",
        .type = KeyType::number,
        .range = not_negative,
        .default_text = "0.0",
        .unit = "length",
        .doc = "Width of the pictures; 0 = chosen from the first snapshot.",
        .assign = [](Case& c, const Value& v) { c.output.picture_width = number(v); }},
    Key{.section = "output",
        .name = "animation",
        .type = KeyType::boolean,
        .default_text = "false",
        .doc = "`animation.png`: the pictures of all snapshots as an animated PNG, when the run ends.",
        .assign = [](Case& c, const Value& v) { c.output.animation = std::get<bool>(v); }},
};

constexpr std::array<std::string_view, 4> section_names{"initial", "force", "time", "output"};

KeyType type_of(OptionType type) {
    switch (type) {
    case OptionType::choice:
        return KeyType::choice;
    case OptionType::number:
        return KeyType::number;
    case OptionType::count:
        return KeyType::integer;
    case OptionType::device:
        return KeyType::device;
    case OptionType::flag:
        return KeyType::boolean;
    case OptionType::lengths:
        return KeyType::lengths;
    }
    return KeyType::text;
}

OptionValue option_value(const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    return text(value);
}

std::string doc_of(const OptionInfo& option) {
    auto doc = guide_text<ForceOptions>(option);
    if (option.machine) doc += fmt::format(" The option `{}` replaces it.", option.flag());
    return doc;
}

Key key_of(const OptionInfo& option) {
    const auto by_default = option.force.get(ForceOptions{});
    return {.section = "force",
            .name = option.name,
            .type = type_of(option.type),
            .range = {.low = option.least, .high = option.most, .low_open = option.open},
            .choices = option.force_choices != nullptr ? option.force_choices : option.choices,
            .of_kernel = option.of_kernel,
            .default_text =
                option.allows(by_default) ? toml_value(option, by_default) : std::string(option.otherwise),
            .example = option.example,
            .unit = option.unit,
            .doc = doc_of(option),
            .assign = [&option](Case& c, const Value& v) { option.force.set(c.force, option_value(v)); }};
}

std::vector<Key> make_table() {
    std::vector<Key> table(before_force.begin(), before_force.end());
    const auto of_vortices = vortex_keys();
    table.insert(table.end(), of_vortices.begin(), of_vortices.end());
    for (const auto& option : option_table())
        if (option.case_key) table.push_back(key_of(option));
    table.insert(table.end(), after_force.begin(), after_force.end());
    return table;
}

} // namespace

std::span<const Key> keys() {
    static const auto table = make_table();
    return table;
}

std::span<const std::string_view> sections() { return section_names; }

const Key* find_key(std::string_view section, std::string_view name) {
    for (const auto& key : keys())
        if (key.section == section && key.name == name) return &key;
    return nullptr;
}

std::string full_name(const Key& key) {
    return key.section.empty() ? std::string(key.name)
                               : std::string(key.section) + "." + std::string(key.name);
}

bool used_by(const Key& key, Kernel kernel) { return key.of_kernel == nullptr || key.of_kernel(kernel); }

bool used_by(const Key& key, const InitialOptions& initial) {
    if (key.kinds == 0) return true;
    if ((key.kinds & bit(initial.kind)) != 0) return true;
    return initial.kind == InitialKind::two_clusters && (key.kinds & bit(initial.model)) != 0;
}

} // namespace farfield::case_file
