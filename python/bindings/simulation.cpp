// farfield.Simulation and Diagnostics.
#include "arrays.h"
#include "bindings.h"
#include "locked_simulation.h"
#include "names.h"
#include "pickles.h"
#include "table_options.h"
#include "views.h"

#include <farfield/run.h>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace farfield::python {
namespace {

nb::tuple triple(const std::array<double, 3>& values) {
    return nb::make_tuple(values[0], values[1], values[2]);
}
#define FF_TRIPLE_SIG(name) nb::sig("def " name "(self) -> tuple[float, float, float]")

void bind_vortex_invariants(nb::module_& module) {
    auto cls = nb::class_<VortexInvariants>(module, "VortexInvariants",
                                            "What a flow of vortices keeps, but for its Hamiltonian.");
    cls.def_ro("circulation", &VortexInvariants::circulation, "ΣΓ.")
        .def_prop_ro(
            "impulse", [](const VortexInvariants& v) { return nb::make_tuple(v.impulse[0], v.impulse[1]); },
            nb::sig("def impulse(self) -> tuple[float, float]"), "ΣΓx and ΣΓy.")
        .def_ro("angular_impulse", &VortexInvariants::angular_impulse,
                "ΣΓ(|x|² + 2σ²); with viscosity it grows as 4νΣΓ.")
        .def_ro("hamiltonian_scale", &VortexInvariants::hamiltonian_scale,
                "(Σ|Γ|)²/4π: what a change of the Hamiltonian is compared with.")
        .def_ro("sigma", &VortexInvariants::sigma, "Of the cores at this time.")
        .def_ro("count", &VortexInvariants::count, "Number of vortices.")
        .def_ro("reinitialisations", &VortexInvariants::reinitialisations,
                "How often vortices were placed anew so far.")
        .def_ro("residual", &VortexInvariants::residual,
                "Of the last time: of the vorticity at the new vortices, relative, in the L2 norm.")
        .def_ro("vorticity_error", &VortexInvariants::vorticity_error,
                "Of the last time: the same in the middle between four of them, where it is largest.");
    make_record(cls, {"circulation", "impulse", "angular_impulse", "hamiltonian_scale", "sigma", "count",
                      "reinitialisations", "residual", "vorticity_error"});
    make_picklable(cls, &VortexInvariants::circulation, &VortexInvariants::impulse,
                   &VortexInvariants::angular_impulse, &VortexInvariants::hamiltonian_scale,
                   &VortexInvariants::sigma, &VortexInvariants::count, &VortexInvariants::reinitialisations,
                   &VortexInvariants::residual, &VortexInvariants::vorticity_error);
}

void bind_diagnostics(nb::module_& module) {
    auto cls =
        nb::class_<Diagnostics>(module, "Diagnostics",
                                "Conserved and structural quantities at one time; the same bits for any "
                                "number of threads.");
    cls.def_ro("time", &Diagnostics::time)
        .def_ro("step", &Diagnostics::step, "Steps taken so far.")
        .def_ro("kinetic", &Diagnostics::kinetic, "Kinetic energy ½Σmv².")
        .def_ro("potential", &Diagnostics::potential, "Potential energy ½Σmφ, or ½Σqφ for Coulomb.")
        .def_ro("total", &Diagnostics::total, "Total energy E; of vortices the Hamiltonian.")
        .def_ro("relative_energy_error", &Diagnostics::relative_energy_error,
                "(E − E₀)/|E₀| against the first diagnostics of the simulation.")
        .def_prop_ro(
            "momentum", [](const Diagnostics& d) { return triple(d.momentum); }, FF_TRIPLE_SIG("momentum"))
        .def_prop_ro(
            "angular_momentum", [](const Diagnostics& d) { return triple(d.angular_momentum); },
            FF_TRIPLE_SIG("angular_momentum"), "About the origin; in periodic boxes not a number.")
        .def_ro("virial_ratio", &Diagnostics::virial_ratio,
                "−T/V; 0 where V = 0; in periodic boxes not a number.")
        .def_prop_ro(
            "lagrangian_radii", [](const Diagnostics& d) { return triple(d.lagrangian_radii); },
            FF_TRIPLE_SIG("lagrangian_radii"),
            "Radii about the density centre that hold 10, 50 and 90 % of the mass; in periodic boxes not "
            "a number.")
        .def_ro("acceleration_error", &Diagnostics::acceleration_error,
                "With a tolerance: relative error in the L2 norm, from exact sums at sampled bodies. "
                "Otherwise 0.")
        .def_ro("potential_error", &Diagnostics::potential_error,
                "The same of the potentials that `potential` is summed from; not a number on GPUs.")
        .def_ro("vortices", &Diagnostics::vortices,
                "What a flow of vortices keeps, or None; then the rest but `total` and errors is 0.");
    make_record(cls, {"time", "kinetic", "potential", "total", "relative_energy_error", "momentum",
                      "angular_momentum", "virial_ratio", "lagrangian_radii", "acceleration_error",
                      "potential_error", "step", "vortices"});
    make_picklable(cls, &Diagnostics::time, &Diagnostics::step, &Diagnostics::kinetic,
                   &Diagnostics::potential, &Diagnostics::total, &Diagnostics::relative_energy_error,
                   &Diagnostics::momentum, &Diagnostics::angular_momentum, &Diagnostics::virial_ratio,
                   &Diagnostics::lagrangian_radii, &Diagnostics::acceleration_error,
                   &Diagnostics::potential_error, &Diagnostics::vortices);
}

constexpr const char* simulation_doc =
    R"(Bodies that move under the forces of a particle sum, step by step.

Units are those of the bodies and of G. Between steps, positions, velocities, step_length and end may be set. For
snapshots, diagnostics.csv and pictures use run_case.

Args:
    bodies: Bodies; copied, so that several simulations may start from the same ones.
    step: length of a step; with `adaptive` the largest one allowed.
    end: the simulation stops here, shortening the last step if need be (with a warning); None: never.
    integrator: "leapfrog" (kick-drift-kick), "yoshida4" or "hermite4".
    adaptive, eta: hermite4 only: one shared step by the criterion of Aarseth (1985) with accuracy η.
    start_time: the time of the bodies as they are given.)";

const Caller simulation_caller{"Simulation", {"step", "end", "integrator", "adaptive", "eta", "start_time"}};

constexpr const char* simulation_doc_end =
    R"(
Raises:
    InvalidArgument (a ValueError): an option that is not allowed, or no bodies.)";

// An array of the bodies: a view, or a copy where vortices are placed anew, into other arrays.
template <class Value, class View>
auto body_array(std::vector<Value> Bodies::*array, const View& view) {
    return [array, view](nb::handle_t<LockedSimulation> self) -> nb::object {
        auto& simulation = nb::cast<LockedSimulation&>(self);
        if (simulation.unlocked().force_options().reinitialise == Reinitialise::none)
            return nb::cast(view(simulation.unlocked().bodies().*array, self));
        return nb::cast(owned(simulation.locked([&](Simulation& s) { return s.bodies().*array; }), view));
    };
}

template <class Value>
auto body_vector(std::vector<Value> Bodies::*array) {
    return body_array(
        array, [](const std::vector<Value>& values, nb::handle owner) { return view_vector(values, owner); });
}

auto body_matrix(std::vector<double> Bodies::*array) {
    return body_array(array, [](const std::vector<double>& values, nb::handle owner) {
        return view_matrix(values, owner);
    });
}

using Setter = void (Simulation::*)(std::span<const double>, const std::function<bool()>&);

// Sets positions or velocities from anything that holds (N, 3) numbers.
auto array_setter(const char* name, Setter set) {
    return [name, set](LockedSimulation& self, const Input& values) {
        const auto n = self.locked([](Simulation& s) { return s.bodies().size(); });
        const auto numbers = copy_in(input_view(values.object, name).view, n, 3, name);
        self.stoppable([&](Simulation& simulation, const auto& stop) { (simulation.*set)(numbers, stop); });
    };
}
#define FF_ARRAY_SETTER_SIG(name)                                                                            \
    nb::for_setter(nb::sig("def " name "(self, value: numpy.typing.ArrayLike, /) -> None"))

template <class Class>
void bind_moving_arrays(Class& cls) {
    cls.def_prop_rw(
           "positions", body_matrix(&Bodies::position), array_setter("positions", &Simulation::set_positions),
           nb::for_getter(FF_ARRAY_SIG("positions", "float64")), FF_ARRAY_SETTER_SIG("positions"),
           "(N, 3), a read-only view: it shows every later step; copy it to keep a moment. Setting it "
           "evaluates the accelerations anew; later energy errors refer to the next diagnostics. With "
           "`reinitialise` a copy, as all arrays are: there are other vortices later.")
        .def_prop_rw("velocities", body_matrix(&Bodies::velocity),
                     array_setter("velocities", &Simulation::set_velocities),
                     nb::for_getter(FF_ARRAY_SIG("velocities", "float64")), FF_ARRAY_SETTER_SIG("velocities"),
                     "(N, 3), a read-only view like positions, set like them.");
}

template <class Class>
void bind_fixed_arrays(Class& cls) {
    cls.def_prop_ro("masses", body_vector(&Bodies::mass), FF_ARRAY_SIG("masses", "float64"),
                    "(N,), a read-only view.")
        .def_prop_ro(
            "charges",
            [](nb::handle_t<LockedSimulation> self) -> nb::object {
                if (nb::cast<LockedSimulation&>(self).unlocked().bodies().charge.empty()) return nb::none();
                return body_vector(&Bodies::charge)(self);
            },
            FF_OPTIONAL_ARRAY_SIG("charges", "float64"), "(N,), a read-only view, or None without charges.")
        .def_prop_ro("ids", body_vector(&Bodies::id), FF_ARRAY_SIG("ids", "uint64"),
                     "(N,), a read-only view.");
}

template <class Class>
void bind_options_of(Class& cls) {
    cls.def_prop_rw(
           "step_length",
           [](LockedSimulation& self) { return self.locked([](auto& s) { return s.time_options().step; }); },
           &LockedSimulation::set_step,
           "Length of a step; with `adaptive` the largest one allowed. Fixed steps are counted anew from the "
           "time at which it is set.")
        .def_prop_rw("end", &LockedSimulation::end, &LockedSimulation::set_end, nb::arg().none(),
                     "The time at which the simulation stops, or None.")
        .def_prop_ro(
            "integrator",
            [](LockedSimulation& self) { return py_name(self.unlocked().time_options().integrator); },
            nb::sig("def integrator(self) -> _Integrator"))
        .def_prop_ro(
            "force", [](LockedSimulation& self) { return ForceOptions(self.unlocked().force_options()); },
            "A copy of the options of the force.");
}

LockedSimulation* load(const std::filesystem::path& path) {
    const nb::gil_scoped_release no_gil;
    return new LockedSimulation(load_simulation(path)); // Python's
}

template <class Class>
void bind_saving(Class& cls) {
    cls.def(
           "save",
           [](LockedSimulation& self, const std::filesystem::path& path) {
               self.locked([&](Simulation& s) { save_simulation(s, path); });
           },
           "path"_a,
           "Writes the complete state and the options to a file, in the format of the checkpoints of "
           "run_case.")
        .def_static(
            "load", &load, "path"_a, nb::rv_policy::take_ownership,
            "The simulation of such a file, or of the checkpoint.h5 of a run: it goes on to the same bits.")
        .def(
            "__getstate__",
            [](LockedSimulation& self) {
                const auto bytes = self.locked([](Simulation& s) { return simulation_bytes(s); });
                return nb::make_tuple(nb::bytes(bytes.data(), bytes.size()));
            },
            FF_GETSTATE_SIG)
        .def(
            "__setstate__",
            [](LockedSimulation& self, const nb::tuple& state) {
                require_state(state, 1);
                const auto bytes = nb::cast<nb::bytes>(state[0]);
                const std::span content(static_cast<const std::byte*>(bytes.data()), bytes.size());
                new (&self) LockedSimulation(simulation_from_bytes(content));
            },
            FF_SETSTATE_SIG);
}

template <class Class>
void bind_display(Class& cls) {
    cls.def("__repr__",
            [](nb::handle_t<LockedSimulation> self) { return nb::str(display("simulation_text")(self)); })
        .def("_repr_html_",
             [](nb::handle_t<LockedSimulation> self) { return display("simulation_html")(self); })
        .def(
            "plot",
            [](nb::handle_t<LockedSimulation> self, const nb::object& axes, const std::string& plane,
               const nb::kwargs& style) {
                const auto text = nb::str("t = {:g}").attr("format")(self.attr("time"));
                return display("plot_bodies")(self, axes, plane, text, style);
            },
            "axes"_a.none() = nb::none(), nb::kw_only(), "plane"_a = "xy", "style"_a,
            nb::sig(plot_bodies_sig), plot_bodies_doc);
}

} // namespace

void bind_simulation(nb::module_& module) {
    bind_vortex_invariants(module);
    bind_diagnostics(module);
    const TimeOptions time;
    const auto text = simulation_doc + option_docs<ForceOptions>() + simulation_doc_end;
    const auto signature = "def __init__(self, bodies: Bodies, *, step: float, end: float | None = None, "
                           "integrator: _Integrator = '" +
                           std::string(name_of(time.integrator)) +
                           "', adaptive: bool = " + (time.adaptive ? "True" : "False") +
                           ", eta: float = " + number_text(time.eta) + ", start_time: float = 0.0" +
                           option_parameters<ForceOptions>() + ") -> None";
    auto cls = nb::class_<LockedSimulation>(module, "Simulation", text.c_str());
    cls.def(
           "__init__",
           [](LockedSimulation* self, const Bodies& bodies, double step, std::optional<double> end,
              Named<Integrator> integrator, bool adaptive, double eta, double start_time,
              const nb::kwargs& options) {
               const TimeOptions time_options{.integrator = integrator.value("integrator"),
                                              .step = step,
                                              .end = LockedSimulation::end_or_never(end, step, start_time),
                                              .adaptive = adaptive,
                                              .eta = eta};
               new (self) LockedSimulation(bodies, options_from<ForceOptions>(options, simulation_caller),
                                           time_options, start_time);
           },
           "bodies"_a, nb::kw_only(), "step"_a, "end"_a.none() = nb::none(),
           "integrator"_a = py_name(time.integrator), "adaptive"_a = time.adaptive, "eta"_a = time.eta,
           "start_time"_a = 0.0, "options"_a, nb::sig(signature.c_str()))
        .def("step", &LockedSimulation::step, "count"_a = 1,
             "Takes `count` steps, or fewer if the end comes first. Ctrl-C gives up a step that takes long; "
             "the "
             "state is then that before it.")
        .def("advance_to", &LockedSimulation::advance_to, "time"_a,
             "Steps to `time`, or to the end if that comes first. A time between two steps shortens the last "
             "one, "
             "and later steps are counted from there; one that has passed is refused. Ctrl-C gives up a step "
             "that "
             "takes long; the state is then that before it.")
        .def(
            "diagnostics",
            [](LockedSimulation& self) {
                return self.stoppable([](Simulation& s, const auto& stop) { return s.diagnostics(stop); });
            },
            "Computes energies, momenta and radii of the present state.")
        .def_prop_ro("time",
                     [](LockedSimulation& self) { return self.locked([](auto& s) { return s.time(); }); })
        .def_prop_ro(
            "step_count",
            [](LockedSimulation& self) { return self.locked([](auto& s) { return s.step_count(); }); })
        .def_prop_ro(
            "steps_remaining",
            [](LockedSimulation& self) { return self.locked([](auto& s) { return s.steps_remaining(); }); })
        .def_prop_ro("finished",
                     [](LockedSimulation& self) { return self.locked([](auto& s) { return s.finished(); }); })
        .def_prop_ro(
            "bodies",
            [](LockedSimulation& self) { return self.locked([](auto& s) { return Bodies(s.bodies()); }); },
            "A copy of the bodies as they are now.")
        .def_prop_ro(
            "notes", [](LockedSimulation& self) { return self.locked([](auto& s) { return s.notes(); }); },
            "What there is to know about the options; also given as warnings.")
        .def_prop_ro(
            "pairs_evaluated",
            [](LockedSimulation& self) { return self.locked([](auto& s) { return s.pairs_evaluated(); }); },
            "Directed pairs evaluated since construction.")
        .def_prop_ro(
            "force_seconds",
            [](LockedSimulation& self) { return self.locked([](auto& s) { return s.force_seconds(); }); },
            "Seconds spent in forces since construction.");
    bind_moving_arrays(cls);
    bind_fixed_arrays(cls);
    bind_options_of(cls);
    bind_saving(cls);
    bind_display(cls);
}

} // namespace farfield::python
