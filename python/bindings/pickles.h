// Pickling and copying of records, member by member: numbers, texts, names of enums, arrays as bytes.
#pragma once

#include "names.h"

#include <farfield/device.h>
#include <farfield/error.h>
#include <farfield/sum.h>

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace farfield::python {

/// How a member goes into a pickle and comes back.
template <class Value>
struct Pickled {
    static nanobind::object out(const Value& value) {
        if constexpr (std::is_enum_v<Value>)
            return py_name(value);
        else
            return nanobind::cast(value);
    }
    static Value in(nanobind::handle state) {
        if constexpr (std::is_enum_v<Value>) {
            const auto name = nanobind::cast<std::string>(state);
            return Named<Value>{name}.value("the pickle");
        } else {
            return nanobind::cast<Value>(state);
        }
    }
};

template <class Number>
requires std::is_arithmetic_v<Number>
struct Pickled<std::vector<Number>> {
    static nanobind::object out(const std::vector<Number>& values) {
        return nanobind::bytes(values.data(), values.size() * sizeof(Number));
    }
    static std::vector<Number> in(nanobind::handle state) {
        const auto bytes = nanobind::cast<nanobind::bytes>(state);
        std::vector<Number> values(bytes.size() / sizeof(Number));
        if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Number));
        return values;
    }
};

template <>
struct Pickled<DeviceChoice> {
    static nanobind::object out(const DeviceChoice& device) { return nanobind::cast(name_of(device)); }
    static DeviceChoice in(nanobind::handle state) {
        return device_from_name(nanobind::cast<std::string>(state));
    }
};

template <>
struct Pickled<std::vector<PassTime>> {
    static nanobind::object out(const std::vector<PassTime>& passes) {
        nanobind::list list;
        for (const auto& pass : passes) list.append(nanobind::make_tuple(pass.name, pass.seconds));
        return list;
    }
    static std::vector<PassTime> in(nanobind::handle state) {
        std::vector<PassTime> passes;
        for (nanobind::handle pass : state)
            passes.push_back({nanobind::cast<std::string>(pass[0]), nanobind::cast<double>(pass[1])});
        return passes;
    }
};

#define FF_GETSTATE_SIG nanobind::sig("def __getstate__(self) -> tuple[object, ...]")
#define FF_SETSTATE_SIG nanobind::sig("def __setstate__(self, state: tuple[object, ...], /) -> None")

/// @throws InvalidArgument for a state that is not `count` long.
inline void require_state(const nanobind::tuple& state, std::size_t count) {
    if (nanobind::len(state) != count)
        throw InvalidArgument("the pickle was made by another version of Farfield");
}

/// Lets `pickle` and `copy` handle a record with these members.
template <class Record, class... Members>
void make_picklable(nanobind::class_<Record>& cls, Members Record::*... members) {
    cls.def(
        "__getstate__",
        [members...](const Record& self) {
            return nanobind::make_tuple(Pickled<Members>::out(self.*members)...);
        },
        FF_GETSTATE_SIG);
    cls.def(
        "__setstate__",
        [members...](Record& self, const nanobind::tuple& state) {
            require_state(state, sizeof...(Members));
            Record record;
            std::size_t at = 0;
            ((record.*members = Pickled<Members>::in(state[at++])), ...);
            new (&self) Record(std::move(record));
        },
        FF_SETSTATE_SIG);
}

} // namespace farfield::python
