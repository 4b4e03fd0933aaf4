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
void bind_communicator(nanobind::module_& module);
void bind_reports(nanobind::module_& module);
void bind_sum(nanobind::module_& module);
void bind_density(nanobind::module_& module);
void bind_bodies(nanobind::module_& module);
void bind_simulation(nanobind::module_& module);
void bind_cases(nanobind::module_& module);
void bind_run(nanobind::module_& module);
void bind_stencil(nanobind::module_& module);
void bind_stencil_run(nanobind::module_& module);

/// A function of farfield/_display.py.
inline nanobind::object display(const char* function) {
    return nanobind::module_::import_("farfield._display").attr(function);
}

constexpr const char* plot_bodies_sig =
    "def plot(self, axes: typing.Any = None, *, plane: str = 'xy', **style: typing.Any) -> typing.Any";
constexpr const char* plot_bodies_doc =
    R"(Draws the bodies with matplotlib, projected on a plane (xy, xz or yz), and returns the axes.

`axes`: to draw into; None: those of a new figure. `style`: keywords of `Axes.scatter`.)";

/// Gives a record `__repr__`, a table in notebooks, and `asdict()`.
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
    cls.def("_repr_html_", [](nb::handle self) { return display("record_html")(self); });
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
