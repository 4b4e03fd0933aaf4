// The isotropic distribution function of Hernquist's model (1990, ApJ 356, 359, eq. 17).
#pragma once

namespace farfield {

/// f(E) up to a constant factor, as a function of q² = −aE/GM in (0, 1): (3 arcsin q + q √(1−q²) (1−2q²)
/// (8q⁴ − 8q² − 3)) / (1−q²)^(5/2). It grows with q².
double hernquist_distribution(double q2);

} // namespace farfield
