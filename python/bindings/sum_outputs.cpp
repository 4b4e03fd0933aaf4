#include "sum_outputs.h"

#include "base/text.h"

#include <farfield/error.h>

#include <string>

namespace nb = nanobind;

namespace farfield::python {
namespace {

// The caller's array for the output, or None.
nb::object given_array(const nb::dict& out, Output output, bool wanted) {
    const auto name = std::string(name_of(output));
    nb::object array = out.contains(name.c_str()) ? nb::object(out[name.c_str()]) : nb::object(nb::none());
    if (!wanted && !array.is_none())
        throw InvalidArgument("out['" + name + "'] is given, but it is not an output that is computed");
    return array;
}

} // namespace

OutputSet outputs_from(nb::handle names) {
    if (names.is_none()) return {};
    if (nb::isinstance<nb::str>(names)) return outputs_from_names(nb::cast<std::string>(names));
    OutputSet set;
    if (!nb::isinstance<nb::iterable>(names))
        throw nb::type_error(
            "output must be names with commas between, such as \"potential,field\", or a sequence");
    for (nb::handle name : names) set |= outputs_from_names(nb::cast<std::string>(nb::str(name)));
    if (set.empty())
        throw InvalidArgument("output is empty: nothing to compute; leave it out for all outputs");
    return set;
}

nb::dict dict_from(nb::handle out) {
    if (out.is_none()) return {};
    if (!nb::isinstance<nb::dict>(out))
        throw nb::type_error(
            "out must be a dict such as {\"potential\": array, \"field\": array}; an output that is "
            "not in it gets a new array");
    return nb::borrow<nb::dict>(out);
}

Outputs::Outputs(OutputSet wanted, const nb::dict& out, const std::function<Shape(Output)>& shape_of,
                 nb::handle make_array, const Memory& memory) {
    for (const auto& [key, array] : out)
        if (const auto name = nb::cast<std::string>(nb::str(key)); !from_name<Output>(name))
            throw InvalidArgument("out has the key '" + name + "'" + suggestion(name, names_of<Output>()));
    for (int k = 0; k < output_count; ++k) {
        const auto output = static_cast<Output>(k);
        auto& one = held[static_cast<std::size_t>(k)];
        const auto given = given_array(out, output, wanted.has(output));
        one.object = nb::none();
        if (!wanted.has(output)) continue;
        const auto shape = shape_of(output);
        const auto parameter = "out['" + std::string(name_of(output)) + "']";
        if (!given.is_none())
            one = output_view(given, shape, parameter.c_str(), memory);
        else if (make_array.is_none())
            one = new_array(shape);
        else // of the library that the arrays on the GPU come from
            one = output_view(make_array(shape_tuple(shape)), shape, parameter.c_str(), memory);
        views.of(output) = one.view;
    }
}

Shape shape_of_output(Output output, std::int64_t targets, std::int64_t dimension, int strength_columns) {
    if (output == Output::hessian) return {targets, dimension * (dimension + 1) / 2};
    if (output != Output::potential) return {targets, dimension};
    return strength_columns == 1 ? Shape{targets} : Shape{targets, strength_columns};
}

} // namespace farfield::python
