// What a method of sums offers to simulations beside accelerations.
#pragma once

#include <farfield/simulation.h>

namespace farfield {

/// True if the method computes jerks, the time derivatives of accelerations.
bool supports_jerk(Method method);

/// @throws InvalidArgument naming the methods to use, if `method` does not compute the jerks that
/// `integrator`
///         needs.
void check_jerk(Method method, Integrator integrator);

} // namespace farfield
