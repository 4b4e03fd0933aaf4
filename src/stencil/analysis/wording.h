// How messages of the analysis call cells, regions and numbers.
#pragma once

#include "lang/source_text.h"
#include "stencil/front_end/model/model.h"
#include "stencil/ir/cell_set.h"

#include <array>
#include <cstdint>
#include <string>

namespace farfield::stencil {

/// "(3, 0)", or "3" on a grid of one axis.
std::string cell_text(const Grid& grid, const std::array<std::int64_t, 3>& cell);

/// "'disk'" for a name, the text of any other condition, "the whole grid" where there is none.
std::string region_text(const lang::SourceText& source, const lang::Expr* where);

/// The text of a span in quotes, on one line, cut where it is long.
std::string quoted_text(const lang::SourceText& source, Span span);

/// "1 cell", "12 cells".
std::string cells_text(std::int64_t count);

/// "17.9 GB".
std::string bytes_text(double bytes);

/// x, y or z.
char axis_letter(const Grid& grid, std::size_t axis);

/// The first cell of a set that is not empty, row by row.
std::array<std::int64_t, 3> first_cell(const ir::CellSet& set);

} // namespace farfield::stencil
