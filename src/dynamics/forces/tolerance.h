// Forces within a tolerance, wherever the bodies are: orders that fall short are raised.
#pragma once

#include "dynamics/forces/compare.h"
#include "dynamics/forces/settings.h"

#include <farfield/simulation.h>

#include <functional>

namespace farfield {

/// What computes the forces that are compared.
struct ComparedForces {
    std::function<ForceErrors()> compare; ///< of the forces at hand
    /// Computes them again by the settings as they are now: takes the last step again, or, before the first
    /// step, evaluates again.
    std::function<void()> compute_again;
    bool after_steps = false; ///< steps were taken with the forces at hand
};

/// Compares, raises the order and computes again until the tolerance of `force` is kept; without one it
/// compares nothing but once. Errors of forces that steps were taken with go into `settings`.
/// @throws ToleranceNotReached where nothing is left to raise, and what the two functions throw
ForceErrors keep_tolerance(const ForceOptions& force, ForceSettings& settings, const ComparedForces& forces);

} // namespace farfield
