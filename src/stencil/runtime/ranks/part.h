// The part of a program that a rank runs: the same kernels and records, on fewer cells.
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/runtime/ranks/division.h"
#include "stencil/runtime/ranks/halos.h"

#include <memory>
#include <vector>

namespace farfield::stencil::ranks {

/// Kernels have the cells of the rank's blocks and of the rims around them, records those of the blocks.
std::shared_ptr<const ir::Program> part_of(const ir::Program& program, const std::vector<Division>& divisions,
                                           const Halos& halos, int rank);

} // namespace farfield::stencil::ranks
