// Values of fields that are not finite: whether there are any, and how messages call them.
#pragma once

#include "stencil/front_end/model/model.h"

#include <cstddef>
#include <span>
#include <string>

namespace farfield {

bool all_finite(std::span<const double> values);

/// "(x = 3, y = 7)", of a cell by its place among the values of a field.
std::string place_of(const stencil::Model& model, int field, std::size_t cell);

/// The first value that is not finite, as "nan in the cell (x = 3)"; `nan` has no sign. There is one.
std::string first_bad_text(const stencil::Model& model, int field, std::span<const double> values);

} // namespace farfield
