// The values of buffers before the first step, row by row, for targets to store as they like.
#pragma once

#include "stencil/ir/ir.h"

#include <cstdint>
#include <functional>
#include <span>

namespace farfield::stencil {

/// Takes the values of cells [first, first + values.size()) of a row: not yet rounded to the buffer's
/// precision.
using RowSink = std::function<void(std::int64_t row, std::int64_t first, std::span<const double> values)>;

/// Calls `sink` for pieces that cover all rows that are held of the buffer's grid, from several threads at a
/// time; for a buffer along one axis once, row 0, with a value for each index.
/// @param threads 0: all.
void initial_values(const ir::Program& program, int buffer, const RowSink& sink, int threads = 0);

} // namespace farfield::stencil
