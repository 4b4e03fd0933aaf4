// Names for units that a file gives in cgs only.
#pragma once

#include <farfield/units.h>

namespace farfield {

/// "kpc" for 3.0857e21 cm, "1e10 Msun" for 1.989e43 g, "km/s" for 1e5 cm/s: the usual name where the numbers
/// agree to a thousandth, else the number in cgs. in_cgs stays as given.
Unit named_length(double in_cgs);
Unit named_mass(double in_cgs);
Unit named_velocity(double in_cgs);

} // namespace farfield
