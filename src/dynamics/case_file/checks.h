// Rules that concern several keys at once.
#pragma once

#include "dynamics/case_file/values.h"

#include <span>
#include <string>

namespace farfield::case_file {

/// @throws InvalidArgument where a key is missing, given but not used, or contradicts another.
void check_together(const Case& simulation_case, std::span<const Entry> entries, const std::string& file);

} // namespace farfield::case_file
