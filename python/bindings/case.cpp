// farfield.Case and its sections, read_case, and the bodies that `[initial]` describes.
#include "bindings.h"
#include "names.h"
#include "pickles.h"
#include "table_options.h"

#include <farfield/run.h>

#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>

namespace nb = nanobind;
using namespace nb::literals;

namespace farfield::python {
namespace {

using Box = std::array<double, 3>;

// An attribute that holds an enum: its name in Python.
template <auto member, class Class>
void def_choice(Class& cls, const char* name) {
    using Record = typename Class::Type;
    using Enum = std::remove_reference_t<decltype(std::declval<Record&>().*member)>;
    const std::string attribute = name;
    cls.def_prop_rw(
        name, [](const Record& self) { return Named<Enum>{name_of(self.*member)}; },
        [attribute](Record& self, Named<Enum> value) { self.*member = value.value(attribute); });
}

void bind_initial(nb::module_& module) {
    auto cls = nb::class_<InitialOptions>(
        module, "InitialOptions", "Where the bodies come from; docs/guide/case-file.md explains each key.");
    cls.def(nb::init<>());
    def_choice<&InitialOptions::kind>(cls, "kind");
    cls.def_rw("n", &InitialOptions::n, "Number of bodies.")
        .def_rw("seed", &InitialOptions::seed,
                "The same seed gives the same bodies, bit for bit, everywhere.")
        .def_rw("cutoff_radius", &InitialOptions::cutoff_radius)
        .def_rw("virial_ratio", &InitialOptions::virial_ratio)
        .def_rw("charge", &InitialOptions::charge)
        .def_rw("negative_fraction", &InitialOptions::negative_fraction)
        .def_rw("w0", &InitialOptions::w0);
    def_choice<&InitialOptions::model>(cls, "model");
    cls.def_rw("mass_ratio", &InitialOptions::mass_ratio)
        .def_rw("separation", &InitialOptions::separation)
        .def_rw("impact_parameter", &InitialOptions::impact_parameter)
        .def_rw("relative_speed", &InitialOptions::relative_speed)
        .def_prop_rw(
            "box",
            [](const InitialOptions& self) { return nb::make_tuple(self.box[0], self.box[1], self.box[2]); },
            [](InitialOptions& self, const Box& box) { self.box = box; },
            "plasma: lengths of the box that is filled; of a case that leaves them out, those of "
            "force.period.")
        .def_rw("particle_mass", &InitialOptions::particle_mass, "plasma: of each body.")
        .def_rw("particle_charge", &InitialOptions::particle_charge, "plasma: magnitude of each charge.")
        .def_rw("temperature", &InitialOptions::temperature, "plasma: k_B T, in units of energy.")
        .def_rw("path", &InitialOptions::path)
        .def_rw("length_unit", &InitialOptions::length_unit,
                "Of a file that does not state its units, such as \"kpc\"; all three units or none.")
        .def_rw("mass_unit", &InitialOptions::mass_unit, "Such as \"1e10 Msun\".")
        .def_rw("velocity_unit", &InitialOptions::velocity_unit, "Such as \"km/s\".")
        .def_rw("circulation", &InitialOptions::circulation)
        .def_rw("circulation_ratio", &InitialOptions::circulation_ratio)
        .def_rw("distance", &InitialOptions::distance)
        .def_rw("width_ratio", &InitialOptions::width_ratio)
        .def_rw("length", &InitialOptions::length)
        .def_rw("amplitude", &InitialOptions::amplitude)
        .def_rw("waves", &InitialOptions::waves)
        .def_rw("radius", &InitialOptions::radius);
    make_record(cls, {"kind",
                      "n",
                      "seed",
                      "cutoff_radius",
                      "virial_ratio",
                      "charge",
                      "negative_fraction",
                      "w0",
                      "model",
                      "mass_ratio",
                      "separation",
                      "impact_parameter",
                      "relative_speed",
                      "box",
                      "particle_mass",
                      "particle_charge",
                      "temperature",
                      "path",
                      "length_unit",
                      "mass_unit",
                      "velocity_unit",
                      "circulation",
                      "circulation_ratio",
                      "distance",
                      "width_ratio",
                      "length",
                      "amplitude",
                      "waves",
                      "radius"});
    make_picklable(
        cls, &InitialOptions::kind, &InitialOptions::n, &InitialOptions::seed, &InitialOptions::cutoff_radius,
        &InitialOptions::virial_ratio, &InitialOptions::charge, &InitialOptions::negative_fraction,
        &InitialOptions::w0, &InitialOptions::model, &InitialOptions::mass_ratio, &InitialOptions::separation,
        &InitialOptions::impact_parameter, &InitialOptions::relative_speed, &InitialOptions::box,
        &InitialOptions::particle_mass, &InitialOptions::particle_charge, &InitialOptions::temperature,
        &InitialOptions::path, &InitialOptions::length_unit, &InitialOptions::mass_unit,
        &InitialOptions::velocity_unit, &InitialOptions::circulation, &InitialOptions::circulation_ratio,
        &InitialOptions::distance, &InitialOptions::width_ratio, &InitialOptions::length,
        &InitialOptions::amplitude, &InitialOptions::waves, &InitialOptions::radius);
}

void bind_sections(nb::module_& module) {
    auto force = nb::class_<ForceOptions>(module, "ForceOptions", "How accelerations are computed.");
    force.def(nb::init<>());
    bind_options(force);

    auto time = nb::class_<TimeOptions>(module, "TimeOptions", "How and how far time goes.");
    time.def(nb::init<>());
    def_choice<&TimeOptions::integrator>(time, "integrator");
    time.def_rw("step", &TimeOptions::step, "Length of a step > 0; with `adaptive` the largest one allowed.")
        .def_rw("end", &TimeOptions::end, "Time at which the run ends.")
        .def_rw("adaptive", &TimeOptions::adaptive,
                "hermite4 only: steps by the criterion of Aarseth (1985).")
        .def_rw("eta", &TimeOptions::eta, "Accuracy η of that criterion.");
    make_record(time, {"integrator", "step", "end", "adaptive", "eta"});
    make_picklable(time, &TimeOptions::integrator, &TimeOptions::step, &TimeOptions::end,
                   &TimeOptions::adaptive, &TimeOptions::eta);

    auto output = nb::class_<OutputOptions>(
        module, "OutputOptions", "Intervals of the outputs, in time units; 0: only at start and end.");
    output.def(nb::init<>())
        .def_rw("snapshot_every", &OutputOptions::snapshot_every)
        .def_rw("diagnostics_every", &OutputOptions::diagnostics_every)
        .def_rw("checkpoint_clock", &OutputOptions::checkpoint_clock,
                "Seconds of the clock between checkpoints; 0: none by the clock.")
        .def_rw("energy_warning", &OutputOptions::energy_warning,
                "Error of the energy at the end that is warned of; 0: no warning.")
        .def_rw("checkpoint_every", &OutputOptions::checkpoint_every,
                "0: only when interrupted and at the end.")
        .def_rw("pictures", &OutputOptions::pictures, "Whether a PNG goes with each snapshot.")
        .def_rw("plane", &OutputOptions::plane, "Projection of the pictures: xy, xz or yz.")
        .def_rw("picture_width", &OutputOptions::picture_width,
                "In length units; 0: chosen from the first snapshot.")
        .def_rw("animation", &OutputOptions::animation,
                "Whether animation.png of all snapshots is made when the run ends.");
    make_record(output, {"snapshot_every", "diagnostics_every", "checkpoint_every", "checkpoint_clock",
                         "energy_warning", "pictures", "plane", "picture_width", "animation"});
    make_picklable(output, &OutputOptions::snapshot_every, &OutputOptions::diagnostics_every,
                   &OutputOptions::checkpoint_every, &OutputOptions::checkpoint_clock,
                   &OutputOptions::energy_warning, &OutputOptions::pictures, &OutputOptions::plane,
                   &OutputOptions::picture_width, &OutputOptions::animation);
}

void bind_case(nb::module_& module) {
    auto cls = nb::class_<Case>(module, "Case",
                                "A whole simulation as a case file describes it; every field may be set.");
    cls.def(nb::init<>())
        .def_rw("name", &Case::name)
        .def_rw("initial", &Case::initial)
        .def_rw("force", &Case::force)
        .def_rw("time", &Case::time)
        .def_rw("output", &Case::output);
    make_record(cls, {"name", "initial", "force", "time", "output"});
    make_picklable(cls, &Case::name, &Case::initial, &Case::force, &Case::time, &Case::output);
    module.def("read_case", &read_case, "path"_a, "overrides"_a = std::vector<std::string>{},
               R"(Reads a case file (TOML).

Args:
    path: the file.
    overrides: texts "section.key=value" that replace or add keys, as `--set` of the program does.

Raises:
    InvalidArgument (a ValueError): names file, line, column and the nearest known key.
    IoError (an OSError): the file cannot be read.)");
}

#define FF_INITIAL_PARAMETERS                                                                                \
    Named<InitialKind> kind, std::int64_t n, std::uint64_t seed, double cutoff_radius, double virial_ratio,  \
        double charge, double negative_fraction, double w0, Named<InitialKind> model, double mass_ratio,     \
        double separation, double impact_parameter, double relative_speed, Box box, double particle_mass,    \
        double particle_charge, double temperature, const std::filesystem::path &path,                       \
        const std::string &length_unit, const std::string &mass_unit, const std::string &velocity_unit,      \
        double circulation, double circulation_ratio, double distance, double width_ratio, double length,    \
        double amplitude, std::int64_t waves, double radius
#define FF_INITIAL_VALUES                                                                                    \
    {                                                                                                        \
        .kind = kind.value("kind"), .n = n, .seed = seed, .cutoff_radius = cutoff_radius,                    \
        .virial_ratio = virial_ratio, .charge = charge, .negative_fraction = negative_fraction, .w0 = w0,    \
        .model = model.value("model"), .mass_ratio = mass_ratio, .separation = separation,                   \
        .impact_parameter = impact_parameter, .relative_speed = relative_speed, .box = box,                  \
        .particle_mass = particle_mass, .particle_charge = particle_charge, .temperature = temperature,      \
        .path = path, .length_unit = length_unit, .mass_unit = mass_unit, .velocity_unit = velocity_unit,    \
        .circulation = circulation, .circulation_ratio = circulation_ratio, .distance = distance,            \
        .width_ratio = width_ratio, .length = length, .amplitude = amplitude, .waves = waves,                \
        .radius = radius                                                                                     \
    }
#define FF_INITIAL_ARGUMENTS                                                                                 \
    "kind"_a = py_name(defaults.kind), nb::kw_only(), "n"_a = defaults.n, "seed"_a = defaults.seed,          \
    "cutoff_radius"_a = defaults.cutoff_radius, "virial_ratio"_a = defaults.virial_ratio,                    \
    "charge"_a = defaults.charge, "negative_fraction"_a = defaults.negative_fraction, "w0"_a = defaults.w0,  \
    "model"_a = py_name(defaults.model), "mass_ratio"_a = defaults.mass_ratio,                               \
    "separation"_a = defaults.separation, "impact_parameter"_a = defaults.impact_parameter,                  \
    "relative_speed"_a = defaults.relative_speed, "box"_a = defaults.box,                                    \
    "particle_mass"_a = defaults.particle_mass, "particle_charge"_a = defaults.particle_charge,              \
    "temperature"_a = defaults.temperature, "path"_a = "", "length_unit"_a = "", "mass_unit"_a = "",         \
    "velocity_unit"_a = "", "circulation"_a = defaults.circulation,                                          \
    "circulation_ratio"_a = defaults.circulation_ratio, "distance"_a = defaults.distance,                    \
    "width_ratio"_a = defaults.width_ratio, "length"_a = defaults.length,                                    \
    "amplitude"_a = defaults.amplitude, "waves"_a = defaults.waves, "radius"_a = defaults.radius

constexpr const char* make_bodies_doc =
    R"(Makes bodies of a model, or reads them from a file; docs/guide/case-file.md explains each argument.

Models are in standard N-body units: G = 1, total mass 1, energy −1/4. "solar-system" is in au, days and solar
masses; see make_initial_state for its G.

Args:
    kind: the model, or "file" with `path` (.h5, .csv, .npy or .tipsy).
    length_unit, mass_unit, velocity_unit: of a file that does not state its units: "kpc", "1e10 Msun", "km/s", say.
    n: number of bodies.
    seed: the same seed gives the same bodies, bit for bit, on every machine.
    box, particle_mass, particle_charge, temperature: of "plasma", which fills a box of these three lengths.
    circulation and what follows it: of vortices, whose circulations are the charges of the bodies.

Raises:
    InvalidArgument (a ValueError): an argument that is not allowed. IoError (an OSError): a file that cannot be read.)";

void bind_makers(nb::module_& module) {
    const InitialOptions defaults;
    auto unit = nb::class_<Unit>(module, "Unit", "How people call a unit and what it is in cgs.");
    unit.def_ro("name", &Unit::name).def_ro("in_cgs", &Unit::in_cgs);
    make_record(unit, {"name", "in_cgs"});
    make_picklable(unit, &Unit::name, &Unit::in_cgs);
    auto units =
        nb::class_<Units>(module, "Units", "Nameless units of 1 are N-body units, which have no size.");
    units.def_ro("length", &Units::length).def_ro("mass", &Units::mass).def_ro("velocity", &Units::velocity);
    make_record(units, {"length", "mass", "velocity"});
    make_picklable(units, &Units::length, &Units::mass, &Units::velocity);
    auto cls = nb::class_<InitialState>(module, "InitialState", "How a simulation starts.");
    cls.def_ro("bodies", &InitialState::bodies)
        .def_ro("time", &InitialState::time, "Of the bodies; 0 unless a file says otherwise.")
        .def_ro("G", &InitialState::G, "The gravitational constant in the units of the bodies.")
        .def_ro("G_origin", &InitialState::G_origin, "Where the G of a file is from, in words.")
        .def_ro("units", &InitialState::units, "Of the bodies.");
    make_record(cls, {"bodies", "time", "G", "G_origin", "units"});
    make_picklable(cls, &InitialState::bodies, &InitialState::time, &InitialState::G, &InitialState::G_origin,
                   &InitialState::units);
    const auto make_state = [](FF_INITIAL_PARAMETERS) {
        const InitialOptions options FF_INITIAL_VALUES;
        const nb::gil_scoped_release no_gil;
        return make_initial_state(options);
    };
    const auto make = [](FF_INITIAL_PARAMETERS) {
        const InitialOptions options FF_INITIAL_VALUES;
        const nb::gil_scoped_release no_gil;
        return make_bodies(options);
    };
    module.def("make_bodies", make, FF_INITIAL_ARGUMENTS, make_bodies_doc);
    module.def(
        "make_initial_state", make_state, FF_INITIAL_ARGUMENTS,
        "As make_bodies, together with the time of the bodies, their units and the G of these. A file of a "
        "cosmological run or in physical units that does not tell G is refused.");
}

} // namespace

void bind_cases(nb::module_& module) {
    bind_initial(module);
    bind_sections(module);
    bind_case(module);
    bind_makers(module);
}

} // namespace farfield::python
