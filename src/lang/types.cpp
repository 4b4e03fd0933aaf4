// Names of types and texts of values.
#include "lang/types.h"

#include <array>
#include <charconv>
#include <cmath>

namespace farfield::lang {

std::string_view name_of(Type type) {
    constexpr std::array<std::string_view, 5> names{"unknown", "true or false", "a whole number",
                                                    "a real number", "a text"};
    return names[static_cast<std::size_t>(type)];
}

Type type_of(const Value& value) {
    constexpr std::array types{Type::boolean, Type::integer, Type::real};
    return types[value.index()];
}

double as_real(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    return std::get<double>(value);
}

std::string real_text(double value) {
    std::array<char, 40> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    std::string text(buffer.data(), end);
    if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

std::string to_text(const Value& value) {
    if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
    return real_text(std::get<double>(value));
}

} // namespace farfield::lang
