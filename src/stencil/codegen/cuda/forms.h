// The forms that a kernel or record of the IR takes on a GPU; each prints its functions and says how they are
// launched.
#pragma once

#include "stencil/codegen/cuda/writer.h"

#include <vector>

namespace farfield::stencil::codegen::cuda {

/// What stands above all functions, but for what Needs asks for.
std::string_view device_helpers();
/// FF_HD and ff_std for portable_functions().
std::string_view device_prelude();

/// One kernel, a thread for each cell, and the copies of the cells that it leaves alone.
MemoryPass print_plain(const PrintJob& job, int kernel);

/// Partial results of atoms, then a tree: the order of ir/reduction.h.
RecordPlan print_record(const PrintJob& job, int record);
/// The tree kernels, printed once where a record needs them.
void print_tree(Text& text);

/// A 0/1 byte for each cell of the set's bounding box.
std::vector<unsigned char> mask_bytes(const ir::CellSet& cells);

/// Computes a condition into `bool is_here`.
void print_condition(Text& text, const PrintedCode& condition);

/// Whether a code is a constant truth value.
bool is_trivial(const ir::Code& predicate);

/// The bounding box where the kernel's cells are all of it, otherwise the whole as text for remarks.
std::string describe_cells(const ir::CellSet& cells, const ir::Shape& shape);

} // namespace farfield::stencil::codegen::cuda
