// What each file of the module adds to it, and the small things they share.
#pragma once

#include <farfield/sum.h>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

namespace farfield::python {

void bind_errors(nanobind::module_& module);
void bind_devices(nanobind::module_& module);
void bind_reports(nanobind::module_& module);
void bind_sum(nanobind::module_& module);
void bind_bodies(nanobind::module_& module);
void bind_simulation(nanobind::module_& module);
void bind_cases(nanobind::module_& module);
void bind_run(nanobind::module_& module);
void bind_stencil(nanobind::module_& module);
void bind_stencil_run(nanobind::module_& module);

/// Gives a record `__repr__`, and `asdict()`.
template <class Class>
void make_record(Class& cls, const std::vector<std::string>& fields) {
    namespace nb = nanobind;
    nb::list names;
    for (const auto& field : fields) names.append(nb::str(field.c_str()));
    cls.attr("_fields") = nb::tuple(names);
    cls.def(
        "asdict",
        [](nb::handle self) -> nb::typed<nb::dict, nb::str, nb::object> {
            nb::dict out;
            for (nb::handle name : self.type().attr("_fields")) out[name] = self.attr(name);
            return out;
        },
        "The fields as a dict.");
    cls.def("__repr__", [](nb::handle self) {
        std::string text = nb::cast<std::string>(self.type().attr("__name__")) + "(";
        const char* separator = "";
        for (nb::handle name : self.type().attr("_fields")) {
            text += separator + nb::cast<std::string>(name) + "=" +
                    nb::cast<std::string>(nb::repr(self.attr(name)));
            separator = ", ";
        }
        return text + ")";
    });
}

} // namespace farfield::python
