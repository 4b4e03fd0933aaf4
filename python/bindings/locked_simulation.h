// The Simulation of Python: one that several Python threads may use, and that Ctrl-C stops.
#pragma once

#include "interrupt.h"

#include <farfield/simulation.h>

#include <nanobind/nanobind.h>

#include <mutex>
#include <optional>
#include <utility>

namespace farfield::python {

// The GIL is released while steps are computed, so the simulation locks itself. The arrays of its bodies
// never move (simulation.h), which is what makes the views safe; where they do, there are copies instead.
class LockedSimulation {
public:
    LockedSimulation(const Bodies& bodies, const ForceOptions& force, const TimeOptions& time, double start)
        : simulation_(make(bodies, force, time, start)) {
        for (const auto& note : simulation_.notes())
            if (PyErr_WarnEx(PyExc_UserWarning, note.c_str(), 1) != 0) throw nanobind::python_error();
    }
    explicit LockedSimulation(Simulation&& simulation) : simulation_(std::move(simulation)) {}

    /// Calls `work(simulation)` without the GIL, alone.
    template <class Work>
    auto locked(Work&& work) {
        const nanobind::gil_scoped_release no_gil;
        const std::lock_guard lock(mutex_);
        return std::forward<Work>(work)(simulation_);
    }

    /// Calls `work(simulation, stop_requested)` as `locked` does; Ctrl-C ends it.
    template <class Work>
    auto stoppable(Work&& work) {
        Interrupt interrupt;
        return interruptible(interrupt, [&] {
            return locked(
                [&](Simulation& simulation) { return work(simulation, [&] { return interrupt.poll(); }); });
        });
    }

    void step(std::uint64_t count) {
        Interrupt interrupt;
        locked([&](Simulation& simulation) { simulation.steps(count, [&] { return interrupt.poll(); }); });
        interrupt.rethrow();
    }

    void advance_to(double time_end) {
        Interrupt interrupt;
        locked([&](Simulation& simulation) {
            simulation.advance_to(time_end, [&] { return interrupt.poll(); });
        });
        interrupt.rethrow();
    }

    /// None: it never ends.
    std::optional<double> end() { return locked(&end_of); }

    void set_step(double step) {
        change_time([step](double& length, std::optional<double>& /*end*/) { length = step; });
    }
    void set_end(std::optional<double> new_end) {
        change_time([new_end](double& /*length*/, std::optional<double>& end) { end = new_end; });
    }

    /// Without an end the options get one that no run reaches, still exactly a whole number of steps away.
    static double end_or_never(std::optional<double> end, double step, double start) {
        return end ? *end : start + never * step;
    }

    [[nodiscard]] const Simulation& unlocked() const { return simulation_; }

private:
    static constexpr double never = 0x1p50;

    static std::optional<double> end_of(const Simulation& simulation) {
        const auto& time = simulation.time_options();
        if ((time.end - simulation.time()) / time.step > 0.5 * never) return std::nullopt;
        return time.end;
    }

    /// `change(step, end)`; without an end the new one is as far away in steps of the new length.
    template <class Change>
    void change_time(Change&& change) {
        locked([&](Simulation& simulation) {
            auto time = simulation.time_options();
            auto end = end_of(simulation);
            change(time.step, end);
            time.end = end_or_never(end, time.step, simulation.time());
            simulation.set_time_options(time);
        });
    }

    static Simulation make(const Bodies& bodies, const ForceOptions& force, const TimeOptions& time,
                           double start) {
        Interrupt interrupt;
        return interruptible(interrupt, [&] {
            const nanobind::gil_scoped_release no_gil;
            return Simulation(bodies, force, time, start, [&] { return interrupt.poll(); });
        });
    }

    Simulation simulation_;
    std::mutex mutex_;
};

} // namespace farfield::python
