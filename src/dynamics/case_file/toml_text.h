// Values as TOML writes them.
#pragma once

#include <farfield/options.h>

#include <string>
#include <string_view>

namespace farfield {

/// The fewest decimals that read back to the same double, with a point or an exponent.
std::string toml_number(double value);

std::string toml_string(std::string_view text);

std::string toml_text(const OptionValue& value);

/// "10" as 10.0, "10,10,20" as [10.0, 10.0, 20.0].
std::string toml_lengths(std::string_view lengths);

/// The value of an option.
std::string toml_value(const OptionInfo& option, const OptionValue& value);

} // namespace farfield
