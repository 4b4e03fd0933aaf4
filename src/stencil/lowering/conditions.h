// Conditions, initial values, coefficients and arrays as code: always in double, from the cell's indices and
// the files that they mention (loads of data buffers at the cell itself).
#pragma once

#include "stencil/ir/cell_set.h"
#include "stencil/ir/ir.h"
#include "stencil/lowering/buffer_numbers.h"

namespace farfield::stencil {

/// The cells, rank and axes of a model's grid.
ir::Grid lower_grid(const Grid& grid);

/// Truth values. @param where null: everywhere. @param interior what the word `interior` means here.
ir::Code lower_condition(const Model& model, const BufferNumbers& buffers, const lang::Expr* where, int grid,
                         const ir::CellBox& interior);
/// Whether a cell lies in the box, whose ends are both included.
ir::Code lower_box(const Model& model, const BufferNumbers& buffers, int grid, const Box& box);

/// float64. @param value null: 0. @param axis of an array, −1 otherwise.
ir::Code lower_value(const Model& model, const BufferNumbers& buffers, const lang::Expr* value, int grid,
                     int axis = -1);
/// float64: the value of the first case that holds; 0 where none does.
ir::Code lower_coefficient(const Model& model, const BufferNumbers& buffers, const Coefficient& coefficient);

} // namespace farfield::stencil
