// The text of diagnostics.csv: its header and its rows.
#pragma once

#include <farfield/simulation.h>

#include <string>

namespace farfield {

/// With the end of line. `compared`: with the errors that a tolerance is compared with.
/// `vortices`: of a simulation of vortices, whose rows have what those keep.
std::string diagnostics_header(bool compared, bool vortices);
std::string diagnostics_row(const Diagnostics& diagnostics, bool compared);

} // namespace farfield
