// Values of keys: from TOML or from the text of `--set`, to the type and range the table asks for.
#pragma once

#include "dynamics/case_file/keys.h"

#include <string>
#include <string_view>

namespace farfield::case_file {

/// A key that was given, its checked value, and where it was written: "case.toml:12:9" or "--set
/// time.step=0".
struct Entry {
    const Key* key = nullptr;
    Value value;
    std::string place;
    bool from_command_line = false;
};

/// `raw` in the type of the key. A whole number is taken for a real one, nothing else is converted.
/// @throws InvalidArgument with place, key, value, what is allowed and an example.
Value checked_value(const Key& key, const std::string& place, const Value& raw);

/// The same from the text of an override; quotes around a text may be left out.
Value parse_value(const Key& key, const std::string& place, std::string_view text);

/// For a value of a type no key has, such as a date or an array.
[[noreturn]] void wrong_type(const Key& key, const std::string& place, std::string_view what_it_is);

/// "it must be > 0", "it must be ≥ 0.1 and ≤ 16"; empty for a range without bounds.
std::string describe(const AllowedRange& range);

} // namespace farfield::case_file
