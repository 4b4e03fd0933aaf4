// Farfield's errors as Python exceptions, each also of the built-in kind that Python code would expect.
#include "bindings.h"

#include <farfield/error.h>

namespace nb = nanobind;

namespace farfield::python {
namespace {

struct ErrorTypes {
    PyObject* base = nullptr;
    PyObject* invalid_argument = nullptr;
    PyObject* backend_unavailable = nullptr;
    PyObject* device = nullptr;
    PyObject* compile = nullptr;
    PyObject* io = nullptr;
    PyObject* tolerance = nullptr;
    PyObject* internal = nullptr;
};
ErrorTypes types; // one reference each, for the life of the process

PyObject* make_type(nb::module_& module, const char* name, const char* doc, const nb::tuple& bases) {
    const std::string full_name = std::string("farfield.") + name;
    nb::object type = nb::steal(PyErr_NewExceptionWithDoc(full_name.c_str(), doc, bases.ptr(), nullptr));
    if (!type.is_valid()) throw nb::python_error();
    module.attr(name) = type;
    return type.release().ptr();
}

void translate(const std::exception_ptr& error, void*) {
    try {
        std::rethrow_exception(error);
    } catch (const InvalidArgument& e) {
        PyErr_SetString(types.invalid_argument, e.what());
    } catch (const BackendUnavailable& e) {
        PyErr_SetString(types.backend_unavailable, e.what());
    } catch (const DeviceError& e) {
        PyErr_SetString(types.device, e.what());
    } catch (const CompileError& e) {
        PyErr_SetString(types.compile, e.what());
    } catch (const IoError& e) {
        PyErr_SetString(types.io, e.what());
    } catch (const ToleranceNotReached& e) {
        PyErr_SetString(types.tolerance, e.what());
    } catch (const Interrupted& e) {
        PyErr_SetString(PyExc_KeyboardInterrupt, e.what());
    } catch (const InternalError& e) {
        PyErr_SetString(types.internal, e.what());
    } catch (const Error& e) {
        PyErr_SetString(types.base, e.what());
    }
}

} // namespace

void bind_errors(nb::module_& module) {
    const auto with = [](PyObject* builtin) {
        return nb::make_tuple(nb::handle(types.base), nb::handle(builtin));
    };
    types.base = make_type(module, "Error", "Base of everything Farfield raises on purpose.",
                           nb::make_tuple(nb::handle(PyExc_Exception)));
    types.invalid_argument =
        make_type(module, "InvalidArgument",
                  "A value, shape, key or file content that is not allowed; also a ValueError.",
                  with(PyExc_ValueError));
    types.backend_unavailable =
        make_type(module, "BackendUnavailable",
                  "The backend asked for is not in this build or not on this machine; also a RuntimeError.",
                  with(PyExc_RuntimeError));
    types.device = make_type(module, "DeviceError", "A device failed while in use; also a RuntimeError.",
                             with(PyExc_RuntimeError));
    types.compile = make_type(module, "CompileError",
                              "A program in one of Farfield's languages does not compile; also a ValueError.",
                              with(PyExc_ValueError));
    types.io = make_type(
        module, "IoError",
        "The machine failed to read or write: missing file, no permission, full disk; also an OSError.",
        with(PyExc_OSError));
    types.tolerance = make_type(
        module, "ToleranceNotReached",
        "A sum did not keep the tolerance it was given; names the error reached. Also a RuntimeError.",
        with(PyExc_RuntimeError));
    types.internal = make_type(module, "InternalError", "A defect of Farfield itself; also a RuntimeError.",
                               with(PyExc_RuntimeError));
    nb::register_exception_translator(translate);
}

} // namespace farfield::python
