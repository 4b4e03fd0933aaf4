// A table of names for an enum whose values count from 0: one place that the command line, TOML, JSON and
// Python use.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace farfield {

template <std::size_t N>
using NameTable = std::array<std::string_view, N>;

template <class Enum, std::size_t N>
std::string_view table_name(const NameTable<N>& table, Enum value) {
    const auto index = static_cast<std::size_t>(value);
    return index < N ? table[index] : std::string_view("?");
}

template <class Enum, std::size_t N>
std::optional<Enum> table_value(const NameTable<N>& table, std::string_view name) {
    for (std::size_t i = 0; i < N; ++i)
        if (table[i] == name) return static_cast<Enum>(i);
    return std::nullopt;
}

} // namespace farfield

/// Defines name_of, from_name and names_of for an enum of namespace farfield from its table.
#define FF_DEFINE_ENUM_NAMES(Enum, table)                                                                    \
    std::string_view name_of(Enum value) { return table_name(table, value); }                                \
    template <>                                                                                              \
    std::optional<Enum> from_name<Enum>(std::string_view name) {                                             \
        return table_value<Enum>(table, name);                                                               \
    }                                                                                                        \
    template <>                                                                                              \
    std::vector<std::string_view> names_of<Enum>() {                                                         \
        return {(table).begin(), (table).end()};                                                             \
    }
