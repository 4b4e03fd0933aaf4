// Keywords, signatures, docstrings and properties of options, from the table of options (farfield/options.h).
#pragma once

#include "bindings.h"

#include <farfield/options.h>
#include <farfield/simulation.h>

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace farfield::python {

/// How the choices of an option show in signatures: `_MultiGpu`, a Literal of the stub.
std::string stub_name(const OptionInfo& option);

/// "0.02", "0.0": a number as Python writes it.
std::string number_text(double value);

/// How messages name options (base/spelling.h): "isa='avx2'", "softening=0.1".
std::string as_keyword(std::string_view option, std::string_view value);

/// A function of Python that takes options, and its other keywords.
struct Caller {
    const char* name;
    std::vector<std::string_view> keywords;
    std::vector<std::string_view> without{}; ///< options that it does not take
};

/// Options from the keywords that are left over in a call.
/// @throws TypeError for a keyword that is no option and a value of another type, InvalidArgument for a name
/// that is not known.
template <class Options>
Options options_from(const nanobind::kwargs& keywords, const Caller& caller);

/// ", kernel: _Kernel = 'gravity', …" for a signature, of all options but `without`.
template <class Options>
std::string option_parameters(const std::vector<std::string_view>& without = {});

/// A paragraph of the docstring for each option, after a line end.
template <class Options>
std::string option_docs(const std::vector<std::string_view>& without = {});

/// An attribute for each option, `__repr__` and `asdict`.
void bind_options(nanobind::class_<ForceOptions>& cls);

} // namespace farfield::python
