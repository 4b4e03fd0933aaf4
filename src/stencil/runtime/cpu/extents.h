// Which cells of each row of a buffer kernels and records touch.
#pragma once

#include "stencil/ir/ir.h"

#include <vector>

namespace farfield::stencil::cpu {

/// For each row of a buffer's grid the smallest interval of all cells that kernels and records read or write
/// where they visit spans; empty intervals where they touch none.
using Extents = std::vector<ir::Interval>;

/// By buffer; of arrays along one axis without rows.
std::vector<Extents> extents_of(const ir::Program& program);

} // namespace farfield::stencil::cpu
