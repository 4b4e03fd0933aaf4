// Vortices placed anew: where cores have spread, their vorticity is interpolated by a lattice of vortices
// with cores as they were at the start. The steps follow Barba, Leonard & Allen (2005, Int. J. Numer. Meth.
// Fluids 47, 387): interpolation by radial basis functions that are the cores themselves.
#pragma once

#include "dynamics/vorticity/reinitialisations.h"

#include <farfield/simulation.h>

#include <functional>
#include <span>

namespace farfield {

/// True where cores of size² `variance` have grown as far as the options let them.
bool needs_reinitialising(const ForceOptions& options, double variance);

/// Vortices of size² `variance`.
struct SpreadVortices {
    const Bodies& bodies;
    std::span<const double> position; ///< N×3, instead of those of the bodies
    double variance = 0.0;
};

/// Vortices with cores of size options.sigma that have the same vorticity, circulation, impulse and angular
/// impulse, at rest; their ids follow the largest one so far. `record` tells what was reached.
/// @throws ToleranceNotReached where the residual exceeds options.residual_tolerance; InvalidArgument where
/// the lattice needs more memory than the machine has; Interrupted.
Bodies reinitialised(const SpreadVortices& vortices, const ForceOptions& options,
                     const std::function<bool()>& stop_requested, Reinitialisations& record);

} // namespace farfield
