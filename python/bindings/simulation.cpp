// farfield.Simulation and Diagnostics.
#include "bindings.h"
#include "interrupt.h"
#include "names.h"
#include "table_options.h"
#include "views.h"

#include <farfield/simulation.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace farfield::python {
namespace {

// The GIL is released while steps are computed, so the simulation locks itself. The arrays of its bodies
// never move (simulation.h), which is what makes the views safe.
class LockedSimulation {
public:
    LockedSimulation(const Bodies& bodies, const ForceOptions& force, const TimeOptions& time, double start)
        : simulation_(make(bodies, force, time, start)) {
        for (const auto& note : simulation_.notes())
            if (PyErr_WarnEx(PyExc_UserWarning, note.c_str(), 1) != 0) throw nb::python_error();
    }

    /// Calls `work(simulation)` without the GIL, alone.
    template <class Work>
    auto locked(Work&& work) {
        const nb::gil_scoped_release no_gil;
        const std::lock_guard lock(mutex_);
        return std::forward<Work>(work)(simulation_);
    }

    void step(std::uint64_t count) {
        Interrupt interrupt;
        locked([&](Simulation& simulation) {
            for (std::uint64_t i = 0; i < count && !simulation.finished(); ++i) {
                simulation.step();
                if (interrupt.poll()) return;
            }
        });
        interrupt.rethrow();
    }

    void advance_to(double time_end) {
        Interrupt interrupt;
        locked([&](Simulation& simulation) {
            simulation.advance_to(time_end, [&] { return interrupt.poll(); });
        });
        interrupt.rethrow();
    }

    [[nodiscard]] const Simulation& unlocked() const { return simulation_; }

private:
    static Simulation make(const Bodies& bodies, const ForceOptions& force, const TimeOptions& time,
                           double start) {
        const nb::gil_scoped_release no_gil;
        return {bodies, force, time, start};
    }

    Simulation simulation_;
    std::mutex mutex_;
};

// Without an end the options get one that no run reaches, still exactly a whole number of steps away.
double end_or_never(std::optional<double> end, double step, double start) {
    constexpr double never = 0x1p50;
    return end ? *end : start + never * step;
}

nb::tuple triple(const std::array<double, 3>& values) {
    return nb::make_tuple(values[0], values[1], values[2]);
}
#define FF_TRIPLE_SIG(name) nb::sig("def " name "(self) -> tuple[float, float, float]")

void bind_diagnostics(nb::module_& module) {
    auto cls =
        nb::class_<Diagnostics>(module, "Diagnostics",
                                "Conserved and structural quantities at one time; the same bits for any "
                                "number of threads.");
    cls.def_ro("time", &Diagnostics::time)
        .def_ro("kinetic", &Diagnostics::kinetic, "Kinetic energy ½Σmv².")
        .def_ro("potential", &Diagnostics::potential, "Potential energy ½Σmφ, or ½Σqφ for Coulomb.")
        .def_ro("total", &Diagnostics::total, "Total energy E.")
        .def_ro("relative_energy_error", &Diagnostics::relative_energy_error,
                "(E − E₀)/|E₀| against the first diagnostics of the simulation.")
        .def_prop_ro(
            "momentum", [](const Diagnostics& d) { return triple(d.momentum); }, FF_TRIPLE_SIG("momentum"))
        .def_prop_ro(
            "angular_momentum", [](const Diagnostics& d) { return triple(d.angular_momentum); },
            FF_TRIPLE_SIG("angular_momentum"), "About the origin.")
        .def_ro("virial_ratio", &Diagnostics::virial_ratio, "−T/V; 0 where V = 0.")
        .def_prop_ro(
            "lagrangian_radii", [](const Diagnostics& d) { return triple(d.lagrangian_radii); },
            FF_TRIPLE_SIG("lagrangian_radii"),
            "Radii about the density centre that hold 10, 50 and 90 % of the mass.");
    make_record(cls, {"time", "kinetic", "potential", "total", "relative_energy_error", "momentum",
                      "angular_momentum", "virial_ratio", "lagrangian_radii"});
}

constexpr const char* simulation_doc =
    R"(Bodies that move under the forces of a particle sum, step by step.

Units are those of the bodies and of G. For files, checkpoints and restarts use run_case.

Args:
    bodies: Bodies; copied, so that several simulations may start from the same ones.
    step: length of a step; with `adaptive` the largest one allowed.
    end: the simulation stops here, shortening the last step if need be (with a warning); None: never.
    integrator: "leapfrog" (kick-drift-kick), "yoshida4" or "hermite4".
    adaptive, eta: hermite4 only: one shared step by the criterion of Aarseth (1985) with accuracy η.
    start_time: the time of the bodies as they are given.)";

const Caller caller{"Simulation", {"step", "end", "integrator", "adaptive", "eta", "start_time"}};

constexpr const char* simulation_doc_end =
    R"(
Raises:
    InvalidArgument (a ValueError): an option that is not allowed, or no bodies.)";

template <class Get>
auto body_array(Get get) {
    return [get](nb::handle_t<LockedSimulation> self) {
        return get(nb::cast<LockedSimulation&>(self).unlocked(), self);
    };
}

template <class Class>
void bind_arrays(Class& cls) {
    cls.def_prop_ro("positions", body_array([](const Simulation& s, nb::handle o) {
                        return view_matrix(s.bodies().position, o);
                    }),
                    FF_ARRAY_SIG("positions", "float64"),
                    "(N, 3), a read-only view: it shows every later step; copy it to keep a moment.")
        .def_prop_ro("velocities", body_array([](const Simulation& s, nb::handle o) {
                         return view_matrix(s.bodies().velocity, o);
                     }),
                     FF_ARRAY_SIG("velocities", "float64"), "(N, 3), a read-only view like positions.")
        .def_prop_ro("masses", body_array([](const Simulation& s, nb::handle o) {
                         return view_vector(s.bodies().mass, o);
                     }),
                     FF_ARRAY_SIG("masses", "float64"), "(N,), a read-only view.")
        .def_prop_ro("charges", body_array([](const Simulation& s, nb::handle o) -> nb::object {
                         if (s.bodies().charge.empty()) return nb::none();
                         return nb::cast(view_vector(s.bodies().charge, o));
                     }),
                     FF_OPTIONAL_ARRAY_SIG("charges", "float64"),
                     "(N,), a read-only view, or None without charges.")
        .def_prop_ro("ids", body_array([](const Simulation& s, nb::handle o) {
                         return view_vector(s.bodies().id, o);
                     }),
                     FF_ARRAY_SIG("ids", "uint64"), "(N,), a read-only view.");
}

} // namespace

void bind_simulation(nb::module_& module) {
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
                                              .end = end_or_never(end, step, start_time),
                                              .adaptive = adaptive,
                                              .eta = eta};
               new (self) LockedSimulation(bodies, options_from<ForceOptions>(options, caller), time_options,
                                           start_time);
           },
           "bodies"_a, nb::kw_only(), "step"_a, "end"_a.none() = nb::none(),
           "integrator"_a = py_name(time.integrator), "adaptive"_a = time.adaptive, "eta"_a = time.eta,
           "start_time"_a = 0.0, "options"_a, nb::sig(signature.c_str()))
        .def("step", &LockedSimulation::step, "count"_a = 1,
             "Takes `count` steps, or fewer where the end comes first. Ctrl-C stops between two steps.")
        .def("advance_to", &LockedSimulation::advance_to, "time"_a,
             "Steps until `time` is reached or passed, or the end. Ctrl-C stops between two steps.")
        .def(
            "diagnostics",
            [](LockedSimulation& self) { return self.locked([](Simulation& s) { return s.diagnostics(); }); },
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
    bind_arrays(cls);
}

} // namespace farfield::python
