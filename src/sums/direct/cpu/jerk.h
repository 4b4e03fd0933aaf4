// Field and its time derivative, the jerk, for integrators of Hermite type. Always double precision.
#pragma once

#include "sums/method/jerk_task.h"

namespace farfield {

/// With s = −1 (gravity) or +1 (Coulomb), R = x_i − x_j, V = v_i − v_j, r² = R² + ε²:
///     φ_i = s Σ q_j / r,   field_i = s Σ q_j R / r³,   jerk_i = s Σ q_j (V / r³ − 3 (R·V) R / r⁵)
/// (Makino & Aarseth 1992, PASJ 44, 141, eqs. 2 and 3). The same bits for any number of threads. A coincident
/// unsoftened pair gives values that are not finite; the caller checks.
/// @throws BackendUnavailable for an ISA this CPU lacks; Interrupted if `task.stop_requested` says so.
void direct_field_and_jerk(const JerkTask& task);

} // namespace farfield
