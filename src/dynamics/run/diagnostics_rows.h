// The text of diagnostics.csv: its header and its rows.
#pragma once

#include <farfield/simulation.h>

#include <string>

namespace farfield {

/// Which columns there are.
struct DiagnosticsColumns {
    bool vortices = false;      ///< what vortices keep, instead of energies and momenta
    bool periodic = false;      ///< no angular momentum and no radii, which follow the borders of the box
    bool compared = false;      ///< the errors that a tolerance is compared with
    bool reinitialised = false; ///< how often vortices were placed anew, and what was reached
};
DiagnosticsColumns diagnostics_columns(const ForceOptions& force);

/// With the end of line.
std::string diagnostics_header(const DiagnosticsColumns& columns);
std::string diagnostics_row(const Diagnostics& diagnostics, const DiagnosticsColumns& columns);

} // namespace farfield
