// The module farfield._core: thin bindings of the public C++ API. The package farfield re-exports it.
#include "base/spelling.h"
#include "bindings.h"
#include "table_options.h"

#include <farfield/farfield.h>

#include <string_view>
#include <vector>

namespace nb = nanobind;

namespace {

nb::tuple as_tuple(const std::vector<std::string_view>& names) {
    nb::list list;
    for (auto name : names) list.append(nb::str(name.data(), name.size()));
    return nb::tuple(list);
}

nb::dict option_names() {
    nb::dict all;
    for (const auto& option : farfield::option_table())
        if (option.choices != nullptr)
            all[nb::str(farfield::python::stub_name(option).c_str() + 1)] = as_tuple(option.choices());
    all["Output"] = as_tuple(farfield::names_of<farfield::Output>());
    all["Integrator"] = as_tuple(farfield::names_of<farfield::Integrator>());
    all["InitialKind"] = as_tuple(farfield::names_of<farfield::InitialKind>());
    return all;
}

} // namespace

NB_MODULE(_core, module) {
    const auto version = farfield::version();
    module.attr("__version__") = nb::str(version.data(), version.size());
    module.def("_names", option_names, "Names that options take, by option.");
    farfield::spell_options(farfield::python::as_keyword);
    farfield::python::bind_errors(module);
    farfield::python::bind_devices(module);
    farfield::python::bind_communicator(module);
    farfield::python::bind_reports(module);
    farfield::python::bind_sum(module);
    farfield::python::bind_density(module);
    farfield::python::bind_bodies(module);
    farfield::python::bind_simulation(module);
    farfield::python::bind_cases(module);
    farfield::python::bind_run(module);
    farfield::python::bind_stencil(module);
    farfield::python::bind_stencil_run(module);
}
