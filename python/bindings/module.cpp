// The module farfield._core: thin bindings of the public C++ API. The package farfield re-exports it.
#include "bindings.h"

#include <farfield/farfield.h>

namespace nb = nanobind;

namespace {

template <class Enum>
void add_names(nb::dict& all, const char* enum_name) {
    nb::list names;
    for (auto name : farfield::names_of<Enum>()) names.append(nb::str(name.data(), name.size()));
    all[enum_name] = nb::tuple(names);
}

nb::dict option_names() {
    nb::dict all;
    add_names<farfield::Kernel>(all, "Kernel");
    add_names<farfield::Method>(all, "Method");
    add_names<farfield::Precision>(all, "Precision");
    add_names<farfield::Isa>(all, "Isa");
    add_names<farfield::Coincident>(all, "Coincident");
    add_names<farfield::Variant>(all, "Variant");
    add_names<farfield::MultiGpu>(all, "MultiGpu");
    add_names<farfield::Exchange>(all, "Exchange");
    add_names<farfield::Integrator>(all, "Integrator");
    add_names<farfield::InitialKind>(all, "InitialKind");
    return all;
}

} // namespace

NB_MODULE(_core, module) {
    const auto version = farfield::version();
    module.attr("__version__") = nb::str(version.data(), version.size());
    module.def("_names", option_names, "Names that options take, by option.");
    farfield::python::bind_errors(module);
    farfield::python::bind_devices(module);
    farfield::python::bind_sum(module);
    farfield::python::bind_bodies(module);
    farfield::python::bind_simulation(module);
    farfield::python::bind_cases(module);
    farfield::python::bind_run(module);
    farfield::python::bind_stencil(module);
}
