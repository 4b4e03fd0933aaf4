// Ctrl-C and exceptions of callbacks inside long C++ work that runs without the GIL.
#pragma once

#include <farfield/error.h>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <string>
#include <utility>

namespace farfield::python {

/// Remembers the first Python error seen while C++ works, tells the work to stop, and raises it afterwards.
class Interrupt {
public:
    /// To be polled without the GIL: true once a signal handler (Ctrl-C) or a callback has raised.
    bool poll() {
        guard([] {
            if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
        });
        return error_ != nullptr;
    }

    /// Calls Python code from work that has released the GIL.
    template <class Function>
    void guard(Function&& function) {
        if (error_) return;
        const nanobind::gil_scoped_acquire gil;
        try {
            std::forward<Function>(function)();
        } catch (...) {
            error_ = std::current_exception();
        }
    }

    /// Raises what was remembered; with the GIL held, after the work.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    std::exception_ptr error_;
};

/// What `work` returns; if it was given up because of `interrupt`, the Python error that this is about.
template <class Work>
auto interruptible(const Interrupt& interrupt, Work&& work) {
    try {
        return std::forward<Work>(work)();
    } catch (const Interrupted&) {
        interrupt.rethrow();
        throw;
    }
}

/// One line of a run: to the caller's function, or to the logger "farfield". With the GIL held.
inline void tell(const nanobind::object& message, const std::string& text) {
    if (!message.is_none())
        message(text);
    else
        nanobind::module_::import_("logging").attr("getLogger")("farfield").attr("warning")("%s", text);
}

} // namespace farfield::python
