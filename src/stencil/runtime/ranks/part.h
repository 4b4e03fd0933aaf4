// The part of a program that a rank runs: the kernels and records that have cells there, on these.
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/runtime/ranks/division.h"
#include "stencil/runtime/ranks/halos.h"

#include <memory>
#include <vector>

namespace farfield::stencil::ranks {

struct Part {
    std::shared_ptr<const ir::Program> program;
    std::vector<int> records; ///< of the part, by their numbers in the whole program
};

/// Kernels have the cells of the rank's blocks and of the rims around them, records those of the blocks.
Part part_of(const ir::Program& program, const std::vector<Division>& divisions, const Halos& halos,
             int rank);

} // namespace farfield::stencil::ranks
