// The intermediate representation: what a target executes. A program is a list of kernels over sets of cells;
// a kernel is straight-line code, one node a value, every rounding fixed. docs/decisions/0021 has the
// semantics.
#pragma once

#include "lang/source_text.h"
#include "stencil/front_end/syntax/statements.h"
#include "stencil/ir/cell_set.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace farfield::stencil::ir {

enum class ValueType : std::uint8_t { boolean, integer, float32, float64 };

enum class Op : std::uint8_t {
    // leaves
    constant, ///< Node::real (rounded to the type) or Node::integer (whole numbers; truth values: 0, 1);
              ///< `index`: of Program::constants, −1 where it has no name there
    time,     ///< t = step·dt, float64
    step,     ///< integer
    uniform,  ///< Program::uniforms[index]: the same for all cells, computed on the host before each step
    cell,     ///< integer: index of the cell along axis `index` of the grid
    load,     ///< buffer `index` at the cell plus `offsets`, of the buffer's precision; outside the grid as
              ///< the buffer's boundary says
    // numbers; operands and result of one type; whole numbers wrap around at 64 bits
    convert, ///< to the node's type: integer → float32/64 rounds to nearest; float64 ↔ float32; never to
             ///< integer
    negate,
    add,
    subtract,
    multiply,
    divide,       ///< IEEE, real types
    fma,          ///< in[0]·in[1] + in[2], rounded once
    floor_divide, ///< integers, rounds down; 0 where the divisor is 0
    remainder,    ///< integers, sign of the divisor; 0 where the divisor is 0
    abs,
    min, ///< b < a ? b : a
    max, ///< a < b ? b : a
    floor,
    ceil,
    sqrt,
    // elementary functions of math/portable, of the node's type
    exp,
    log,
    sin,
    cos,
    tanh,
    cbrt,
    pow,
    // to truth values
    less,
    less_equal,
    equal,
    not_equal,
    logical_and,
    logical_or,
    logical_not,
    select ///< in[0] ? in[1] : in[2]; both are computed
};

struct Node {
    Op op = Op::constant;
    ValueType type = ValueType::float64;
    std::array<int, 3> in = {-1, -1, -1}; ///< earlier nodes of the same code
    double real = 0;
    std::int64_t integer = 0;
    int index = -1;
    std::array<int, 3> offsets = {}; ///< along the axes of the grid
    /// What the source calls the value, "dt" or "dt/dx"; null: nothing short. No operation looks at it.
    std::shared_ptr<const std::string> text = nullptr;
    friend bool operator==(const Node&, const Node&) = default;
};

/// Nodes in an order in which they can be computed. `result` is the value of a code that stands for one
/// expression; kernels name theirs in stores.
struct Code {
    std::vector<Node> nodes;
    int result = -1;
};

struct Grid {
    std::string name;
    int rank = 0;
    std::array<char, 3> axes = {'x', 'y', 'z'}; ///< names of the axes in use, in order
    Shape shape = {1, 1, 1};
    std::array<double, 3> origin = {};
    std::array<double, 3> spacing = {1, 1, 1};
};

enum class BufferKind : std::uint8_t {
    field,
    array,       ///< along one axis
    coefficient, ///< read-only
    data         ///< read-only float64, from a file
};

/// Values for each cell of a grid, x fastest and without gaps where they are passed around; targets lay them
/// out as they like.
struct Buffer {
    std::string name;
    BufferKind kind = BufferKind::field;
    int grid = -1;
    int axis = -1; ///< arrays: the values depend on the index along this axis alone; −1 otherwise
    Precision precision = Precision::double_precision;
    std::array<double, 3> stagger = {};
    std::array<Boundary, 3> boundary = {}; ///< along the axes of the grid
    int copies = 1;                        ///< 2: kernels may write the other copy; see Store
    bool written = false;                  ///< by some kernel
    /// The value before the first step, float64, of the cell's indices and earlier read-only buffers; rounded
    /// to the precision when it is stored. Without nodes: `values`.
    Code initial;
    std::vector<double> values; ///< of data; for arrays one value an index
};

/// Writes node `node`, which has the buffer's precision, to the cell of a buffer. All loads of a kernel come
/// before its stores. With `other_copy`, loads read the current copy, the store goes to the other one, and
/// the two change places after the kernel.
struct Store {
    int buffer = -1;
    int node = -1;
    bool other_copy = false;
};

/// Cells of a buffer that a kernel copies from the current copy to the other one as they are, because it does
/// not write them and the other copy may be older there. (Before the first step both copies are equal.)
struct Carry {
    int buffer = -1;
    std::shared_ptr<const CellSet> cells;
};

struct Kernel {
    std::string name; ///< of its update or source; of several joined with '+'
    int grid = -1;
    std::int64_t every = 1; ///< runs in steps 0, every, 2·every, …
    std::shared_ptr<const CellSet> cells;
    /// Whether a cell belongs to the kernel, evaluated cell by cell; agrees with `cells` everywhere in the
    /// grid.
    Code predicate;
    Code code;
    std::vector<Store> stores;
    std::vector<Carry> carries;
    lang::Span span; ///< of the statement
};

/// A number after every `every`-th step: after step s (from 0) where (s + 1) is a multiple of `every`;
/// stamped (s + 1)·dt. The value of a cell is computed by `code` (float32 or float64), widened, and reduced
/// in float64 as ir/reduction.h says.
struct Record {
    std::string name;
    int grid = -1;
    Reduction reduction = Reduction::value;
    std::int64_t every = 1;
    std::shared_ptr<const CellSet> cells;
    Code predicate;
    Code code;
};

/// A number that the source has a name or an expression for; what generated code prints in its place.
struct NamedConstant {
    std::string name; ///< as in C++
    Node value;
};

struct Program {
    std::string name;
    std::vector<Grid> grids;
    std::vector<Buffer> buffers; ///< fields first, in the order of Model::fields
    std::vector<Code>
        uniforms; ///< of time, step and constants; float64, rounded where a node uniform is float32
    std::vector<NamedConstant> constants;
    std::vector<std::string> uniform_names; ///< as in C++; may be empty
    std::vector<Kernel> kernels;            ///< of a step, in their order
    std::vector<Record> records;
    double dt = 1;
    /// Of the part of a program that one of several ranks runs: boxes by grid, apart from each other, outside
    /// of which nothing is read or written, so that no memory is needed there. Empty: all of all grids.
    std::vector<std::vector<CellBox>> held;
};

/// Whether any of row r = i_1 + shape[1]·i_2 of a grid is held.
bool holds_row(const Program& program, int grid, std::int64_t row);

} // namespace farfield::stencil::ir
