// What the equations of a program read, and where: neighbours as offsets from the cell at hand.
#pragma once

#include "stencil/front_end/model/model.h"
#include "stencil/ir/cell_set.h"

#include <array>
#include <vector>

namespace farfield::stencil {

/// One read of a field, coefficient or array, in the cell itself or a neighbour.
struct CellRead {
    SymbolKind kind = SymbolKind::field; ///< field, coefficient or array
    int index = -1;                      ///< in the model's table of that kind
    std::array<int, 3> offsets = {};     ///< along the axes of the grid
    Span span;
    int operation = 0;        ///< Update::operations it belongs to; 0 in records
    bool conditional = false; ///< in a branch of `if`; branches are computed in every cell

    bool of_neighbour() const { return offsets != std::array<int, 3>{}; }
};

/// In the order of the text.
std::vector<CellRead> reads_of(const lang::Expr& expr);
std::vector<CellRead> reads_of(const Update& update);

/// What lies beyond the grid along an axis; `none` for coefficients and arrays.
Boundary boundary_beyond(const Model& model, const CellRead& read, std::size_t axis);

/// Cells along the axes, 1 where the grid has none.
ir::Shape shape_of(const Grid& grid);

/// The largest box of cells in which everything that is read exists: the meaning of `interior`. Axes along
/// which all that is read has a boundary are not restricted. May be empty.
ir::CellBox access_box(const Model& model, const Update& update);
ir::CellBox access_box(const Model& model, const Record& record);

} // namespace farfield::stencil
