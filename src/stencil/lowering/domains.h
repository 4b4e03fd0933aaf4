// Where things apply: every condition of a program as a set of cells. The analysis finds them, lowering reads
// them.
#pragma once

#include "stencil/ir/cell_set.h"
#include "stencil/reads/files.h"

#include <memory>
#include <vector>

namespace farfield::stencil {

using CellSetPtr = std::shared_ptr<const ir::CellSet>;

/// Each list is in the order of the model's table. Equal conditions may share a set. No pointer is null.
struct Domains {
    std::vector<CellSetPtr> subdomains;
    std::vector<CellSetPtr> updates;
    std::vector<CellSetPtr> sources;
    std::vector<CellSetPtr> records;
    /// For each coefficient the cells of each case; those of `elsewhere` are what the others leave.
    std::vector<std::vector<CellSetPtr>> coefficients;
    DataFiles files;
};

} // namespace farfield::stencil
