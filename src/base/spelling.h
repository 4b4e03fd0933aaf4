// How messages name an option of a sum: as the interface in use spells it, `--isa avx2` on the command line,
// `isa='avx2'` in Python. What throws knows no interface; each of them says once how it spells.
#pragma once

#include <string>
#include <string_view>

namespace farfield {

/// `value` as names and numbers are spelled everywhere; empty for the option alone.
using OptionSpelling = std::string (*)(std::string_view option, std::string_view value);

/// Of the whole process; by default that of C++, "isa = avx2". An interface sets it before all else. Returns
/// the earlier one.
OptionSpelling spell_options(OptionSpelling spelling);

/// The option in the spelling of this process.
std::string spelled(std::string_view option, std::string_view value = {});

} // namespace farfield
