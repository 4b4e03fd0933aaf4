// The text of diagnostics.csv: its header and its rows.
#pragma once

#include <farfield/simulation.h>

#include <string>

namespace farfield {

/// With the end of line. `compared`: with the errors that a tolerance is compared with.
std::string diagnostics_header(bool compared);
std::string diagnostics_row(const Diagnostics& diagnostics, bool compared);

} // namespace farfield
