// farfield.Bodies: arrays of particles, copied in once and viewed from then on.
#include "arrays.h"
#include "bindings.h"
#include "pickles.h"
#include "views.h"

#include <farfield/error.h>
#include <farfield/simulation.h>

#include <nanobind/stl/optional.h>

#include <optional>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace farfield::python {
namespace {

std::vector<std::uint64_t> copy_ids(nb::handle object, std::int64_t n) {
    const nb::object numpy = nb::module_::import_("numpy");
    const nb::object array = numpy.attr("asarray")(object);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    if (kind != "i" && kind != "u")
        throw nb::type_error("ids must be whole numbers, such as np.arange(1, n + 1, dtype=np.uint64)");
    if (nb::cast<std::int64_t>(array.attr("ndim")) != 1 || static_cast<std::int64_t>(nb::len(array)) != n)
        throw InvalidArgument("ids must be one whole number a body, shape (" + std::to_string(n) + ",)");
    if (n > 0 && nb::cast<double>(array.attr("min")()) < 0.0)
        throw InvalidArgument("ids holds a negative number; ids count from 1");
    const nb::object whole = numpy.attr("ascontiguousarray")(array, "dtype"_a = "uint64");
    const auto view = nb::cast<nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig>>(whole);
    return {view.data(), view.data() + view.size()};
}

Bodies make_from_arrays(nb::handle positions, nb::handle velocities, nb::handle masses,
                        const std::optional<Input>& charges, const nb::object& ids) {
    const auto mass_view = input_view(masses, "masses");
    const auto n = mass_view.view.shape[0];
    Bodies bodies;
    bodies.mass = copy_in(mass_view.view, n, 1, "masses");
    bodies.position = copy_in(input_view(positions, "positions").view, n, 3, "positions");
    bodies.velocity = copy_in(input_view(velocities, "velocities").view, n, 3, "velocities");
    if (charges) bodies.charge = copy_in(input_view(charges->object, "charges").view, n, 1, "charges");
    if (ids.is_none())
        for (std::int64_t i = 1; i <= n; ++i) bodies.id.push_back(static_cast<std::uint64_t>(i));
    else
        bodies.id = copy_ids(ids, n);
    bodies.validate();
    return bodies;
}

constexpr const char* bodies_doc =
    R"(Particles: positions (N, 3), velocities (N, 3), masses (N,), and if they have them charges (N,).

The arrays given are copied in, in float64. The attributes are writable NumPy views of the copies and keep them
alive. `ids` are unique whole numbers, 1 to N unless given.

Raises:
    InvalidArgument (a ValueError): lengths that disagree, a value that is not finite, a mass < 0, a repeated id.)";

} // namespace

void bind_bodies(nb::module_& module) {
    const auto positions = [](nb::handle_t<Bodies> self) {
        auto& bodies = nb::cast<Bodies&>(self);
        return view_matrix(bodies.position, self);
    };
    const auto velocities = [](nb::handle_t<Bodies> self) {
        auto& bodies = nb::cast<Bodies&>(self);
        return view_matrix(bodies.velocity, self);
    };
    const auto masses = [](nb::handle_t<Bodies> self) {
        return view_vector(nb::cast<Bodies&>(self).mass, self);
    };
    const auto charges = [](nb::handle_t<Bodies> self) -> nb::object {
        auto& bodies = nb::cast<Bodies&>(self);
        return bodies.charge.empty() ? nb::none() : nb::cast(view_vector(bodies.charge, self));
    };
    const auto ids = [](nb::handle_t<Bodies> self) { return view_vector(nb::cast<Bodies&>(self).id, self); };
    auto cls = nb::class_<Bodies>(module, "Bodies", bodies_doc);
    make_picklable(cls, &Bodies::position, &Bodies::velocity, &Bodies::mass, &Bodies::charge, &Bodies::id);
    cls.def(
           "__init__",
           [](Bodies* self, Input positions_in, Input velocities_in, Input masses_in,
              std::optional<Input> charges_in, nb::object ids_in) {
               new (self) Bodies(make_from_arrays(positions_in.object, velocities_in.object, masses_in.object,
                                                  charges_in, ids_in));
           },
           "positions"_a, "velocities"_a, "masses"_a, "charges"_a.none() = nb::none(),
           "ids"_a.none() = nb::none(),
           nb::sig(
               "def __init__(self, positions: numpy.typing.ArrayLike, velocities: numpy.typing.ArrayLike, "
               "masses: numpy.typing.ArrayLike, charges: numpy.typing.ArrayLike | None = None, "
               "ids: numpy.typing.ArrayLike | None = None) -> None"))
        .def("__len__", [](const Bodies& self) { return self.size(); })
        .def("__repr__",
             [](const Bodies& self) {
                 return "Bodies(n=" + std::to_string(self.size()) +
                        (self.charge.empty() ? ")" : ", with charges)");
             })
        .def("_repr_html_", [](nb::handle_t<Bodies> self) { return display("bodies_html")(self); })
        .def(
            "plot",
            [](nb::handle_t<Bodies> self, const nb::object& axes, const std::string& plane,
               const nb::kwargs& style) { return display("plot_bodies")(self, axes, plane, "", style); },
            "axes"_a.none() = nb::none(), nb::kw_only(), "plane"_a = "xy", "style"_a,
            nb::sig(plot_bodies_sig), plot_bodies_doc)
        .def_prop_ro("positions", positions, FF_ARRAY_SIG("positions", "float64"), "(N, 3), a writable view.")
        .def_prop_ro("velocities", velocities, FF_ARRAY_SIG("velocities", "float64"),
                     "(N, 3), a writable view.")
        .def_prop_ro("masses", masses, FF_ARRAY_SIG("masses", "float64"), "(N,), a writable view.")
        .def_prop_ro("charges", charges, FF_OPTIONAL_ARRAY_SIG("charges", "float64"),
                     "(N,), a writable view, or None for bodies without charge.")
        .def_prop_ro("ids", ids, FF_ARRAY_SIG("ids", "uint64"), "(N,), a writable view.");
}

} // namespace farfield::python
