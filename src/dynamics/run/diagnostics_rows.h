// The text of diagnostics.csv: its header and its rows.
#pragma once

#include <farfield/simulation.h>

#include <string>
#include <string_view>

namespace farfield {

constexpr std::string_view diagnostics_header =
    "time,kinetic,potential,total,relative_energy_error,px,py,pz,lx,ly,lz,virial_ratio,r10,r50,r90\n";

/// With the end of line.
std::string diagnostics_row(const Diagnostics& diagnostics);

} // namespace farfield
