// Whether a program keeps to the rules of ir.h: what passes and targets rely on.
#pragma once

#include "stencil/ir/ir.h"

namespace farfield::stencil::ir {

/// Operands come first and have the types their operation needs; indices are in range; stores have the
/// precision of their buffers; sets belong to the grids. @throws InternalError naming the place.
void verify(const Program& program);

} // namespace farfield::stencil::ir
