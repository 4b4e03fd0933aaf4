// A stencil program as it is written: statements in their order. The parser makes it; builders may.
// docs/guide/stencil-language.md has the grammar.
#pragma once

#include "lang/expression.h"

#include <string>
#include <variant>
#include <vector>

namespace farfield::stencil {

using lang::ExprPtr;
using lang::Span;

/// A name where it is declared or mentioned; empty where the program leaves it out.
struct Identifier {
    std::string text;
    Span span = {};
    bool empty() const { return text.empty(); }
};

/// `program microdisk`
struct ProgramName {
    Identifier name;
};

struct NamedValue {
    Identifier name;
    ExprPtr value;
};

/// `param cells = 512, radius = 200` or `let k = 2*pi/20`
struct Constants {
    bool parameters = false; ///< values may be replaced from outside
    std::vector<NamedValue> list;
};

/// `time dt = 0.5*dx, end = 100`; the names are dt, steps and end.
struct TimeSettings {
    std::vector<NamedValue> list;
};

/// `x: 512`, or with lengths `x: -5 to 5`
struct GridAxis {
    Identifier name;
    ExprPtr first; ///< null: 0
    ExprPtr last;
};

/// `grid g[x: 10, y: 8] sampling 32`
struct GridDecl {
    Identifier name;
    std::vector<GridAxis> axes;
    ExprPtr sampling; ///< cells a unit of length; null: the sizes are in cells
};

enum class Precision : std::uint8_t { double_precision, single_precision };

/// `field Ex, Ey on g at (x+1/2, y) : double, double-buffered = 0`
struct FieldDecl {
    std::vector<Identifier> names;
    Identifier grid;
    std::vector<ExprPtr> stagger; ///< one for each axis, or none
    Precision precision = Precision::double_precision;
    bool read_only = false;
    bool double_buffered = false;
    ExprPtr initial; ///< null: 0
};

/// `array sponge[x] on g at (x+1/2) = exp(-X)`: a read-only value for each index along one axis.
struct ArrayDecl {
    Identifier name;
    Identifier axis;
    Identifier grid;
    std::vector<ExprPtr> stagger; ///< one, or none
    Precision precision = Precision::double_precision;
    ExprPtr value;
};

/// `subdomain disk(x, y) on g at (x, y+1/2) = x^2 + y^2 < 100`, or `subdomain ring = disk and not hole`
struct SubdomainDecl {
    Identifier name;
    std::vector<Identifier> coordinates;
    Identifier grid;
    std::vector<ExprPtr> stagger; ///< where X, Y, Z are taken; none: at the index itself
    ExprPtr condition;
};

struct CoefficientCase {
    ExprPtr where; ///< null: elsewhere
    ExprPtr value;
    Span span = {};
};

/// A read-only value for each cell, chosen by subdomains.
struct CoefficientDecl {
    Identifier name;
    Identifier grid;
    Precision precision = Precision::double_precision;
    std::vector<CoefficientCase> cases;
};

enum class AssignOp : std::uint8_t { assign, add, subtract, multiply };

/// `let lap = u[x-1] - 2*u + u[x+1]` within an update: a temporary.
struct Temporary {
    Identifier name;
    ExprPtr value;
};

struct Assignment {
    ExprPtr target; ///< a Name, or an Access that the check refuses
    AssignOp op = AssignOp::assign;
    ExprPtr value;
};

using Equation = std::variant<Temporary, Assignment>;

/// `update electric on interior:` and its equations
struct UpdateDecl {
    Identifier name;
    ExprPtr where; ///< null: everywhere
    std::vector<Equation> equations;
};

/// One coordinate of a place: a cell or length, from one to another, or the name of the axis for all of it.
struct PlaceRange {
    ExprPtr first;
    ExprPtr last; ///< null: the same as first
};

/// `source dipole at (100, 50):` or `source glow on disk:` and its equations
struct SourceDecl {
    Identifier name;
    std::vector<PlaceRange> at; ///< one for each axis, or none
    ExprPtr where;              ///< null with `at`
    std::vector<Equation> equations;
};

enum class Boundary : std::uint8_t { none, zero, periodic, mirror, clamp };

struct BoundaryRule {
    Boundary boundary = Boundary::none;
    std::vector<Identifier> axes; ///< none: all
};

/// `boundary u, v: periodic in x, mirror in y`
struct BoundaryDecl {
    std::vector<Identifier> fields; ///< none: all declared so far
    std::vector<BoundaryRule> rules;
};

enum class Reduction : std::uint8_t { value, sum, mean, max, min };

/// `record energy = sum of Hz^2 on disk every 10`
struct RecordDecl {
    Identifier name;
    Reduction reduction = Reduction::value;
    ExprPtr value;
    ExprPtr where;
    std::vector<PlaceRange> at;
    ExprPtr every; ///< null: every step
};

struct StepEntry {
    Identifier name;
    ExprPtr every; ///< null: every step
};

/// `step: electric, magnetic, accumulate every 10`
struct StepDecl {
    std::vector<StepEntry> entries;
};

/// `output Hz every 100, at end`
struct OutputDecl {
    std::vector<Identifier> fields;
    ExprPtr every; ///< null: not repeated
    bool at_start = false;
    bool at_end = false;
};

using StatementNode =
    std::variant<ProgramName, Constants, TimeSettings, GridDecl, FieldDecl, ArrayDecl, SubdomainDecl,
                 CoefficientDecl, UpdateDecl, SourceDecl, BoundaryDecl, RecordDecl, StepDecl, OutputDecl>;

struct Statement {
    Span span;
    StatementNode node;
};

struct Program {
    std::vector<Statement> statements;
    /// Names in statements that could not be read: the check does not complain that they are unknown.
    std::vector<std::string> unread_names;
};

} // namespace farfield::stencil
