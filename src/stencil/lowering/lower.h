// From a model and its domains to the intermediate representation, as written: passes come after.
#pragma once

#include "stencil/front_end/model/model.h"
#include "stencil/ir/ir.h"
#include "stencil/lowering/domains.h"

namespace farfield::stencil {

/// Kernels in the order of the step, every rounding as docs/decisions/0021 says. The files' values move from
/// `domains` into the program. The model has no errors; a program that becomes too long is reported, and what
/// is returned then is not complete.
ir::Program lower(const Model& model, Domains& domains, lang::Diagnostics& diagnostics);

} // namespace farfield::stencil
