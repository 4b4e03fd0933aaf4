// Names of enums that are in no table of options: a parameter of type Named<Enum> takes one of the names of
// names_of<Enum>(), a str in Python.
#pragma once

#include <farfield/error.h>
#include <farfield/run.h>

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::python {

template <class Enum>
struct Named {
    std::string_view text; // lives as long as the Python string that the caller holds

    /// @throws InvalidArgument naming the parameter, the value and the names that are known.
    [[nodiscard]] Enum value(std::string_view parameter) const {
        if (const auto found = from_name<Enum>(text)) return *found;
        std::string known;
        for (auto name : names_of<Enum>()) known += (known.empty() ? "'" : ", '") + std::string(name) + "'";
        throw InvalidArgument(std::string(parameter) + " = '" + std::string(text) +
                              "' is not known; use one of " + known);
    }
};

/// The name of an enum's value as a Python string.
template <class Enum>
nanobind::str py_name(Enum value) {
    const auto name = name_of(value);
    return nanobind::str(name.data(), name.size());
}

/// How an enum shows in signatures and stubs: `_Integrator`, a Literal there of all its names.
template <class Enum>
struct StubName;
#define FF_STUB_NAME(Enum)                                                                                   \
    template <>                                                                                              \
    struct StubName<Enum> {                                                                                  \
        static constexpr auto value = nanobind::detail::const_name("_" #Enum);                               \
    }
FF_STUB_NAME(Integrator);
FF_STUB_NAME(InitialKind);
#undef FF_STUB_NAME

} // namespace farfield::python

template <class Enum>
struct nanobind::detail::type_caster<farfield::python::Named<Enum>> {
    NB_TYPE_CASTER(farfield::python::Named<Enum>, farfield::python::StubName<Enum>::value)

    bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
        Py_ssize_t size = 0;
        const char* text =
            PyUnicode_Check(source.ptr()) ? PyUnicode_AsUTF8AndSize(source.ptr(), &size) : nullptr;
        if (text == nullptr) {
            PyErr_Clear();
            return false;
        }
        value.text = {text, static_cast<std::size_t>(size)};
        return true;
    }
    static handle from_cpp(const farfield::python::Named<Enum>& named, rv_policy, cleanup_list*) noexcept {
        return PyUnicode_FromStringAndSize(named.text.data(), static_cast<Py_ssize_t>(named.text.size()));
    }
};
