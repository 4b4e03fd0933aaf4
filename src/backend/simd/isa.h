// Which instruction sets the CPU kernels may use on this machine, asked of the CPU at run time.
#pragma once

#include <farfield/sum.h>

namespace farfield {

/// The ISA to use for `wanted`: itself, or the best one for `automatic`.
/// @throws BackendUnavailable naming what this machine has.
Isa resolve_isa(Isa wanted);

} // namespace farfield
