// A model as text for people: what `farfield stencil explain --after names` shows.
#pragma once

#include "stencil/front_end/model/model.h"

#include <string>

namespace farfield::stencil {

/// Values of constants, sizes of grids, what each name is, and equations with their accesses resolved.
std::string describe(const Model& model);

/// One line: "2 grids, 4 fields, …".
std::string summary(const Model& model);

} // namespace farfield::stencil
