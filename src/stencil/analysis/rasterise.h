// A condition as a set of cells: its code is computed row by row on all threads.
#pragma once

#include "stencil/ir/cell_set.h"
#include "stencil/ir/row_evaluator.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace farfield::stencil {

/// Told which share of something long is done, on any thread, once at a time.
using Progress = std::function<void(double)>;

/// The cells of a grid of that shape where the code's result, a truth value, holds. Rows that are all alike,
/// and conditions that are the same along a row, are computed once. The same for any number of threads.
/// @returns nothing as soon as there are more than `most` intervals in rows that differ.
std::optional<ir::CellSet> rasterise(const ir::Shape& shape, const ir::Code& code,
                                     std::span<const ir::BufferView> buffers, std::int64_t most,
                                     const Progress& progress = {});

} // namespace farfield::stencil
