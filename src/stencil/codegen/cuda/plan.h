// What a GPU is asked to do for a stencil program: CUDA C++ as text, where
// values lie, tables to upload once, and which kernels run in a step. It knows
// no device: the runtime executes it, and tests do so on a CPU.
#pragma once

#include "stencil/codegen/executor_options.h"
#include "stencil/codegen/expressions.h"
#include "stencil/ir/ir.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::stencil::codegen::cuda {

/// What stands for a pointer or number in a kernel's parameters when it is
/// launched.
enum class ArgumentKind : std::uint8_t {
    current,     ///< the current copy of buffer `index`
    other,       ///< its other copy
    table,       ///< Plan::tables[index]
    scratch,     ///< Plan::scratch[index]
    clock,       ///< the row of the clock for the first step of the pass: t, step,
                 ///< uniforms; float64
    steps,       ///< int: the steps of this pass
    series,      ///< where the value of record `index` goes
    number,      ///< `index` itself, 64 bits
    first_block, ///< 64 bits: the launch has the blocks from this one on; see Launch::rows
    first_row,   ///< 64 bits: of the rows that are computed
    end_row      ///< 64 bits: one past the last of them
};

struct Argument {
    ArgumentKind kind = ArgumentKind::current;
    std::int64_t index = 0;
};

/// Where the rows of a grid are among the blocks of a launch: the units of a row, u of which make a block,
/// come one after the other, row after row. Row y + ny z has the cells (., y, z).
struct BlocksOfRows {
    std::array<std::int64_t, 2> first = {}, end = {}; ///< y and z of the rows that have units
    std::int64_t units_a_row = 0;
    std::int64_t units_a_block = 1;
    int items =
        -1; ///< instead: units are the entries of this table (x, count, y, z), in the order of their rows
};

struct Launch {
    std::string function;
    std::array<int, 3> threads = {1, 1, 1};
    std::int64_t blocks = 0;
    int shared_bytes = 0;
    std::vector<Argument> arguments;
    BlocksOfRows rows = {}; ///< where kernels take rows
};

/// Kernels that run one after the other, and the buffers whose copies change
/// places behind them.
struct MemoryPass {
    std::string name;
    std::int64_t every = 1;
    std::vector<Launch> launches;
    std::vector<int> swapped;
};

struct RecordPlan {
    std::int64_t every = 1;
    /// The last one writes the value, but for the part of a rank, which has no more than the atoms; none: the
    /// pass of tiles writes it.
    std::vector<Launch> launches;
    /// The scratch of the atoms of all rows, which the first launch fills where a cell belongs to the record;
    /// none: of one cell.
    int atoms = -1;
};

/// Where the values of a buffer lie: x fastest, rows `pitch` values apart, plane behind plane. Of a rank's
/// buffers only some rows of some planes are in memory; kernels get the place of row 0 of plane 0, at which
/// nothing need lie.
struct BufferLayout {
    std::int64_t width = 0; ///< values in a row
    std::int64_t first_row = 0, first_plane = 0;
    std::int64_t rows = 1; ///< of a plane
    std::int64_t planes = 1;
    std::int64_t pitch = 0;
    int value_bytes = 8;
    int copies = 1;
    std::size_t bytes() const { return static_cast<std::size_t>(pitch * rows * planes * value_bytes); }
    /// Bytes from the start of the memory to row y of plane z of the grid.
    std::int64_t place(std::int64_t y, std::int64_t z) const {
        return (y - first_row + rows * (z - first_plane)) * pitch * value_bytes;
    }
};

struct Table {
    std::string name;
    std::vector<char> bytes;
};

/// Float64 values that only kernels use, all `initial` before the first step.
struct Scratch {
    std::int64_t values = 0;
    double initial = 0;
    std::int64_t first = 0; ///< the number of the first one; kernels count from 0
};

struct Plan {
    std::string source;
    std::size_t functions =
        0; ///< so many characters of `source` are types and functions that the kernels use
    std::vector<BufferLayout> buffers;
    std::vector<Table> tables;
    std::vector<Scratch> scratch;
    std::vector<MemoryPass> passes; ///< of a step, or of up to `steps_a_pass` steps
                                    ///< where there is one pass of tiles
    std::int64_t steps_a_pass = 1;
    std::vector<RecordPlan> records;
    int clock_row = 2; ///< numbers in a row of the clock
    std::string description;
};

/// What a plan is for, beside the program.
struct PlanUse {
    std::string_view behind = {}; ///< code that is put behind the source
    Needs needs = {};             ///< of that code
    /// A launch computes some rows of a grid: kernels take the three arguments of rows and are not fused.
    bool by_rows = false;
};

/// Chooses the form of each kernel and prints them.
Plan plan_program(const ir::Program& program, const ExecutorOptions& options, const PlanUse& use = {});

/// The same program with buffers that are called as C++ allows: those of files
/// have the files' names.
ir::Program with_plain_names(ir::Program program);

} // namespace farfield::stencil::codegen::cuda
