// The cpu target's code: for each kernel and record a function over one row, which the runtime's threads
// call. Rows of neighbours come as pointers, with the boundary along the outer axes already applied; along
// the row the first and last cells have a slower version of the loop where a boundary is met.
#pragma once

#include "stencil/codegen/executor_options.h"
#include "stencil/codegen/expressions.h"

#include <string>
#include <vector>

namespace farfield::stencil::codegen {

/// A row of a buffer that a function reads or writes: the cell's row plus offsets. Of an array along axis 1
/// or 2 it is the one value.
struct Slot {
    int buffer = -1;
    int row_offset = 0;   ///< along axis 1
    int plane_offset = 0; ///< along axis 2
    bool other_copy = false;
    bool stored = false;
    friend bool operator==(const Slot&, const Slot&) = default;
};

struct RowFunction {
    std::string name;
    std::vector<Slot> slots;
    /// Of the 0/1 array with the strategies select and multiply: double where a double is stored.
    Precision mask_precision = Precision::double_precision;
};

/// Of records, RowCall::out is where a row's results go.
/// sum, mean: the sums of its atoms (ir/reduction.h). max, min: the extremum, and 1 where there is a cell.
/// value: the value.
struct CpuSource {
    std::string text;
    std::size_t functions = 0; ///< so many characters of `text` are types and functions that the kernels use
    std::vector<RowFunction> kernels; ///< as in Program::kernels
    std::vector<RowFunction> records; ///< as in Program::records
};

/// The strategy for a kernel. `automatic` is spans, and where these are many and short, as on a chessboard,
/// an array with an if, by the cost of both. `multiply` has nothing to multiply where the cells are a box,
/// must not turn the zeros that neighbours read in place, and a kernel without cells runs on the spans that
/// it is called with.
Mask mask_for(Mask mask, const ir::Kernel& kernel);
/// The strategy for a record, which stores no field.
Mask mask_for_record(Mask mask, Reduction reduction);

/// @param behind code that is put behind the text, and what it needs.
CpuSource print_row_functions(const ir::Program& program, Mask of_kernels, Mask of_records, Needs needs,
                              std::string_view behind = {});
inline CpuSource print_row_functions(const ir::Program& program, Mask mask) {
    return print_row_functions(program, mask, mask, {});
}

} // namespace farfield::stencil::codegen
