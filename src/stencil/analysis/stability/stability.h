// Whether short waves grow: von Neumann's analysis of the lowered step, with the coefficients frozen at
// sample cells.
#pragma once

#include "lang/diagnostics.h"
#include "stencil/front_end/model/model.h"
#include "stencil/ir/ir.h"
#include "stencil/lowering/domains.h"

namespace farfield::stencil {

/// Reports a step in which waves of few cells grow faster than long ones; silent where the program is not
/// linear or a growth cannot be derived. `program` is as lowered or optimised.
void check_stability(const ir::Program& program, const Model& model, const Domains& domains,
                     lang::Diagnostics& diagnostics);

} // namespace farfield::stencil
