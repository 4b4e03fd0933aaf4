// Lengths of the three axes as texts: "10", "10,10,0".
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace farfield {

using Lengths = std::array<double, 3>;

/// One for all axes, or all three. @throws InvalidArgument for a length that is negative or not finite.
std::string text_of_lengths(const Lengths& lengths);
/// The same, and for a text that is none.
Lengths lengths_from_text(std::string_view text);

} // namespace farfield
