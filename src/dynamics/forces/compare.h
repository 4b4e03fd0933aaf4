// How far accelerations and potentials are from exact sums, at sampled bodies (sums/select/verify.h).
#pragma once

#include "dynamics/bodies/body_rows.h"

#include <farfield/simulation.h>

#include <span>

namespace farfield {

/// Relative, in the L2 norm; infinite where a value is not a number.
struct ForceErrors {
    double acceleration = 0.0;
    double potential = 0.0;

    /// Not a number where the potentials were not compared.
    [[nodiscard]] double largest() const;
};

/// `acceleration`: N×3, at the positions of the bodies. `potential`: N, those of the sum itself, without G;
/// empty: not compared, and its error is not a number. @param rows  of all ranks' bodies these are
ForceErrors compare_forces(const ForceOptions& force, const Bodies& bodies,
                           std::span<const double> acceleration, std::span<const double> potential,
                           const BodyRows& rows = {});

} // namespace farfield
