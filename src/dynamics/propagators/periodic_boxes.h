// What simulations in periodic boxes can do: what the methods of sums can that take such boxes, on the CPU or
// on a GPU.
#pragma once

#include <farfield/simulation.h>

namespace farfield {

/// @throws InvalidArgument for a box that simulations do not take, whatever the bodies.
void check_period(const ForceOptions& options, Integrator integrator);

/// Sums on a GPU are told of nothing but places: @throws InvalidArgument for strengths that do not cancel in
/// a box that needs it.
void check_strengths(const ForceOptions& options, const Bodies& bodies);

/// The precision that a tolerance asks for, of those that the methods have which may be taken.
/// @pre check_period
Precision precision_in_box(const ForceOptions& options);

} // namespace farfield
