// A checked program with all parameters bound: what passes read. Names are resolved to indices into the
// tables below, sizes and offsets are numbers, expressions are typed. Expressions belong to `program`, and
// live as long as the model.
#pragma once

#include "stencil/front_end/syntax/statements.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace farfield::stencil {

/// The kinds of lang::Symbol in stencil programs; an index counts in the table named.
enum class SymbolKind : int {
    none,
    constant,    ///< Model::constants
    grid,        ///< Model::grids
    field,       ///< Model::fields
    array,       ///< Model::arrays
    coefficient, ///< Model::coefficients
    subdomain,   ///< Model::subdomains
    update,      ///< Model::updates
    source,      ///< Model::sources
    record,      ///< Model::records
    temporary,   ///< Update::operations of the update or source at hand
    cell_index,  ///< x, y, z: index = axis 0, 1, 2 of x, y, z
    position,    ///< X, Y, Z: origin + (cell index + Name::shift)·spacing; index = axis
    spacing,     ///< dx, dy, dz: index = 3·grid + axis
    time,        ///< t = step·dt, at the start of the step
    step,        ///< counts from 0
    time_step,   ///< dt
    pi,
    interior, ///< in conditions: the cells where every access of the update, source or record exists
    everywhere
};

inline SymbolKind kind_of(lang::Symbol symbol) { return static_cast<SymbolKind>(symbol.kind); }

struct Constant {
    std::string name;
    lang::Value value;
    bool parameter = false;
    bool replaced = false; ///< from outside
};

/// Axes are those of the grid in the order x, y, z; a grid of two may have x and z.
struct Axis {
    int coordinate = 0; ///< 0, 1, 2: x, y, z
    std::int64_t cells = 0;
    double origin = 0;  ///< of cell 0, in lengths
    double spacing = 1; ///< width of a cell
};

struct Grid {
    std::string name;
    std::vector<Axis> axes;
    bool physical = false; ///< declared in lengths, with `sampling`
    Span span;

    /// The axis of this grid that is x, y or z (0, 1, 2); -1: none.
    int axis_of(int coordinate) const;
};

/// Staggers and boundaries are in the order of the grid's axes.
struct Field {
    std::string name;
    int grid = -1;
    std::array<double, 3> stagger = {};
    Precision precision = Precision::double_precision;
    bool read_only = false;
    bool double_buffered = false;
    std::array<Boundary, 3> boundary = {};
    const lang::Expr* initial = nullptr; ///< null: 0
    Span span;
};

struct Array {
    std::string name;
    int grid = -1;
    int axis = 0; ///< of the grid
    double stagger = 0;
    Precision precision = Precision::double_precision;
    const lang::Expr* value = nullptr;
};

struct Subdomain {
    std::string name;
    int grid = -1;
    std::array<double, 3> stagger = {};
    const lang::Expr* condition = nullptr;
    Span span;
};

struct CoefficientValue {
    const lang::Expr* where = nullptr; ///< null: elsewhere, the last
    const lang::Expr* value = nullptr;
    Span span;
};

struct Coefficient {
    std::string name;
    int grid = -1;
    Precision precision = Precision::double_precision;
    std::vector<CoefficientValue> cases;
};

/// A temporary where `field` is -1, otherwise `field op= value`.
struct Operation {
    int field = -1;
    AssignOp op = AssignOp::assign;
    std::string temporary;
    const lang::Expr* value = nullptr;
    Span span; ///< of the target
};

struct Update {
    std::string name;
    int grid = -1;
    const lang::Expr* where = nullptr; ///< null: everywhere
    std::vector<Operation> operations;
    Span span;
};

/// Cells `first` to `last`, both included, along each axis of a grid.
struct Box {
    std::array<std::int64_t, 3> first = {};
    std::array<std::int64_t, 3> last = {};
};

/// Applies to a box or, without one, to the cells where the condition holds.
struct Source {
    Update update; ///< of which `where` is the condition
    std::optional<Box> box;
};

struct Record {
    std::string name;
    int grid = -1;
    Reduction reduction = Reduction::value;
    const lang::Expr* value = nullptr;
    const lang::Expr* where = nullptr;
    std::optional<Box> box; ///< neither a box nor a condition: everywhere
    std::int64_t every = 1;
};

struct Output {
    std::vector<int> fields;
    std::int64_t every = 0; ///< 0: not repeated
    bool at_start = false;
    bool at_end = false;
};

/// An update or a source in the sequence of a time step.
struct Action {
    bool is_source = false;
    int index = -1;
    std::int64_t every = 1;
};

struct Model {
    std::string name; ///< of the program; empty where it has none
    Program program;
    std::vector<Constant> constants;
    std::vector<Grid> grids;
    std::vector<Field> fields;
    std::vector<Array> arrays;
    std::vector<Coefficient> coefficients;
    std::vector<Subdomain> subdomains;
    std::vector<Update> updates;
    std::vector<Source> sources;
    std::vector<Record> records;
    std::vector<Output> outputs;
    std::vector<Action> step;
    double dt = 1;
    std::optional<std::int64_t> steps; ///< to run
    std::optional<double> end;         ///< time to reach; not together with `steps`
};

/// The value of a name that is constant in a model: constants, dx, dt, pi. None for anything else.
std::optional<lang::Value> constant_value(const Model& model, const lang::Name& name);

} // namespace farfield::stencil
