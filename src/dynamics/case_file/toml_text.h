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

} // namespace farfield
