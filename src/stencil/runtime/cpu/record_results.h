// The results of a record's rows in one step, and the number that becomes of them.
#pragma once

#include "stencil/ir/ir.h"

#include <cstdint>
#include <vector>

namespace farfield::stencil::cpu {

/// Results of all rows, `per_row` numbers each, rows in their order; rows without cells are 0. The number is
/// the same for any number of threads. @param values as row functions leave them
/// (codegen/cpu/row_functions.h)
double reduce_rows(const ir::Record& record, std::int64_t per_row, const std::vector<double>& values,
                   int threads);

} // namespace farfield::stencil::cpu
