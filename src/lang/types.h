// Types and values of expressions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace farfield::lang {

/// `unknown` stands for an expression with a mistake that has been reported: it goes with everything.
enum class Type : std::uint8_t { unknown, boolean, integer, real, text };

/// "true or false", "a whole number", "a real number", "a text".
std::string_view name_of(Type type);

constexpr bool is_number(Type type) { return type == Type::integer || type == Type::real; }

/// The type that can hold both numbers.
constexpr Type wider(Type a, Type b) {
    return a == Type::integer && b == Type::integer ? Type::integer : Type::real;
}

/// A constant.
using Value = std::variant<bool, std::int64_t, double>;

Type type_of(const Value& value);
/// An integer or a real as a double. @throws std::bad_variant_access for a truth value.
double as_real(const Value& value);
/// "true", "3", "0.5", "2.0": text that reads back as the same value where it is not negative.
std::string to_text(const Value& value);
/// With a point or an exponent, so that it reads back as a real; shortest form.
std::string real_text(double value);

} // namespace farfield::lang
