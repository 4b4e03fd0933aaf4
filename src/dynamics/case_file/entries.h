// From the text of a case file and the overrides of the command line to a list of checked entries.
#pragma once

#include "dynamics/case_file/values.h"

#include <string>
#include <string_view>
#include <vector>

namespace farfield::case_file {

/// The entries of a TOML text, in its order; `file` is how messages call it.
/// @throws InvalidArgument for bad TOML, an unknown section or key, a wrong type or a value out of range.
std::vector<Entry> entries_of(std::string_view text, const std::string& file);

/// The entry of an override "section.key=value".
Entry entry_of_override(const std::string& text);

} // namespace farfield::case_file
