// The table of case file keys. Defaults written here are those of the option structs in farfield/run.h,
// farfield/simulation.h; a test compares them.
#include "dynamics/case_file/keys.h"

#include "sums/kernels/kernel.h"

#include <array>

namespace farfield::case_file {
namespace {

using Kind = InitialKind;

constexpr Range positive{.low = 0.0, .low_open = true};
constexpr Range not_negative{.low = 0.0};
constexpr Range at_least_one{.low = 1.0};

constexpr KindSet models =
    bit(Kind::plummer) | bit(Kind::uniform_sphere) | bit(Kind::hernquist) | bit(Kind::king);
constexpr KindSet sampled = models | bit(Kind::two_clusters);
constexpr KindSet pair = bit(Kind::two_clusters);

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

std::vector<std::string_view> force_kernels() {
    std::vector<std::string_view> names;
    for (const auto* kernel : kernels())
        if (kernel->moves_bodies()) names.push_back(kernel->name);
    return names;
}

std::vector<std::string_view> planes() { return {"xy", "xz", "yz"}; }

const std::array table{
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
        .kinds = sampled,
        .required_by = sampled,
        .example = "4096",
        .unit = "bodies",
        .doc = "Number of bodies; of both clusters together for `two-clusters`.",
        .assign = [](Case& c, const Value& v) { c.initial.n = std::get<std::int64_t>(v); }},
    Key{.section = "initial",
        .name = "seed",
        .type = KeyType::integer,
        .range = not_negative,
        .kinds = sampled,
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
        .name = "path",
        .type = KeyType::path,
        .kinds = bit(Kind::file),
        .required_by = bit(Kind::file),
        .example = "\"bodies.csv\"",
        .doc = "File of bodies: `.h5`/`.hdf5` (GADGET-4), `.csv`, `.npy` or `.tipsy`; relative to the case "
               "file (in `--set`: to the current folder).",
        .assign = [](Case& c, const Value& v) { c.initial.path = text(v); }},

    Key{.section = "force",
        .name = "kernel",
        .type = KeyType::choice,
        .choices = force_kernels,
        .default_text = "\"gravity\"",
        .doc = "`gravity` acts by mass; `coulomb` by charge, and acceleration is q·E/m.",
        .assign = [](Case& c, const Value& v) { c.force.kernel = choice<Kernel>(v); }},
    Key{.section = "force",
        .name = "method",
        .type = KeyType::choice,
        .choices = names_of<Method>,
        .default_text = "\"direct\"",
        .doc = "How the sum over pairs is done.",
        .assign = [](Case& c, const Value& v) { c.force.method = choice<Method>(v); }},
    Key{.section = "force",
        .name = "G",
        .type = KeyType::number,
        .range = positive,
        .default_text = "1.0",
        .doc = "Gravitational (or Coulomb) constant; left out, `solar-system` takes k² = 0.01720209895² "
               "au³/(M☉ day²) and `file` what the file says.",
        .assign = [](Case& c, const Value& v) { c.force.G = number(v); }},
    Key{.section = "force",
        .name = "softening",
        .type = KeyType::number,
        .range = not_negative,
        .default_text = "0.0",
        .unit = "length",
        .doc = "Plummer softening ε; 0 = none.",
        .assign = [](Case& c, const Value& v) { c.force.softening = number(v); }},
    Key{.section = "force",
        .name = "precision",
        .type = KeyType::choice,
        .choices = names_of<Precision>,
        .default_text = "\"double\"",
        .doc = "Arithmetic of the pair loop. `mixed` takes differences of coordinates from pairs of floats, "
               "so that rounding the inputs loses no accuracy, and does the rest as `float` does; it costs "
               "some operations a pair more than `float`.",
        .assign = [](Case& c, const Value& v) { c.force.precision = choice<Precision>(v); }},
    Key{.section = "force",
        .name = "device",
        .type = KeyType::device,
        .default_text = "\"auto\"",
        .example = "\"cuda\"",
        .doc = "Where the run computes: `auto`, `cpu`, `cuda` (the first GPU), `cuda:1`, or several GPUs as "
               "`cuda:0,1`. `auto` takes a GPU where it is faster. The option `--device` replaces it.",
        .assign = [](Case& c, const Value& v) { c.force.device = device_from_name(text(v)); }},
    Key{.section = "force",
        .name = "multi_gpu",
        .type = KeyType::choice,
        .choices = names_of<MultiGpu>,
        .default_text = "\"threads\"",
        .doc = "Several GPUs: driven by a CPU thread each, or by one for all. The option `--multi-gpu` "
               "replaces it.",
        .assign = [](Case& c, const Value& v) { c.force.multi_gpu = choice<MultiGpu>(v); }},
    Key{.section = "force",
        .name = "exchange",
        .type = KeyType::choice,
        .choices = names_of<Exchange>,
        .default_text = "\"auto\"",
        .doc =
            "Several GPUs: how positions travel, by pinned memory (`host`, `mapped`, `write-combined`) or "
            "from "
            "GPU to GPU (`peer`). `auto` takes `peer` where they can. The option `--exchange` replaces it.",
        .assign = [](Case& c, const Value& v) { c.force.exchange = choice<Exchange>(v); }},

    Key{.section = "time",
        .name = "integrator",
        .type = KeyType::choice,
        .choices = names_of<Integrator>,
        .default_text = "\"leapfrog\"",
        .doc = "`leapfrog` (order 2, symplectic), `yoshida4` (order 4, symplectic), `hermite4` (order 4).",
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
        .doc = "Interval of checkpoints; 0 = only when interrupted and at the end.",
        .assign = [](Case& c, const Value& v) { c.output.checkpoint_every = number(v); }},
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
};

constexpr std::array<std::string_view, 4> section_names{"initial", "force", "time", "output"};

} // namespace

std::span<const Key> keys() { return table; }
std::span<const std::string_view> sections() { return section_names; }

const Key* find_key(std::string_view section, std::string_view name) {
    for (const auto& key : table)
        if (key.section == section && key.name == name) return &key;
    return nullptr;
}

std::string full_name(const Key& key) {
    return key.section.empty() ? std::string(key.name)
                               : std::string(key.section) + "." + std::string(key.name);
}

bool used_by(const Key& key, const InitialOptions& initial) {
    if (key.kinds == 0) return true;
    if ((key.kinds & bit(initial.kind)) != 0) return true;
    return initial.kind == InitialKind::two_clusters && (key.kinds & bit(initial.model)) != 0;
}

} // namespace farfield::case_file
