// Trees of expressions. The parser makes them, builders may; checks fill in what is marked "found".
#pragma once

#include "lang/source_text.h"
#include "lang/types.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace farfield::lang {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>; ///< never null inside a tree

/// What a name stands for. The language that embeds expressions (stencil/front_end/model/model.h) says what
/// its kinds are; 0 is "not found".
struct Symbol {
    int kind = 0;
    int index = -1; ///< into the table of that kind
    friend bool operator==(Symbol, Symbol) = default;
};

enum class UnaryOp : std::uint8_t { negate, logical_not };
enum class BinaryOp : std::uint8_t {
    add,
    subtract,
    multiply,
    divide,       ///< real
    floor_divide, ///< of integers, rounds down
    remainder,    ///< of integers, has the sign of the divisor: a = (a // b)·b + a % b
    power,
    logical_and,
    logical_or
};
enum class CompareOp : std::uint8_t { less, less_equal, greater, greater_equal, equal, not_equal };

/// As they are written: "+", "and", "<=".
std::string_view name_of(BinaryOp op);
std::string_view name_of(CompareOp op);

/// The functions of the language; those that need not be exact are those of math/portable.
enum class Function : std::uint8_t {
    none,
    exp,
    log,
    sin,
    cos,
    tanh,
    sqrt,
    cbrt,
    abs,
    min,
    max,
    pow,
    floor,
    ceil,
    image,
    data
};

struct IntegerLiteral {
    std::int64_t value = 0; ///< not negative: −5 is a negation
};
struct RealLiteral {
    double value = 0; ///< finite, not negative
};
struct BooleanLiteral {
    bool value = false;
};
struct TextLiteral {
    std::string value; ///< without quotes; a file name
};
struct Name {
    std::string text;
    Symbol symbol = {}; ///< found
    double shift = 0;   ///< found, of a physical coordinate: stagger in cells to add to the index
};
/// A value at a neighbouring cell: `Hz[y-1]`.
struct Access {
    std::string text;
    Span name_span = {};
    std::vector<ExprPtr> indices;    ///< as written: each an axis plus or minus an integer
    Symbol symbol = {};              ///< found
    std::array<int, 3> offsets = {}; ///< found, in the order of the grid's axes
};
struct Call {
    std::string text;
    Span name_span = {};
    std::vector<ExprPtr> arguments;
    Function function = Function::none; ///< found
};
struct Unary {
    UnaryOp op = UnaryOp::negate;
    ExprPtr operand;
};
struct Binary {
    BinaryOp op = BinaryOp::add;
    ExprPtr left;
    ExprPtr right;
};
/// `a < b <= c`: true where every neighbouring pair compares so. One operand more than operators.
struct Compare {
    std::vector<ExprPtr> operands;
    std::vector<CompareOp> ops;
};
/// `if condition then yes else no`; only the chosen branch matters.
struct Select {
    ExprPtr condition;
    ExprPtr yes;
    ExprPtr no;
};

using Node = std::variant<IntegerLiteral, RealLiteral, BooleanLiteral, TextLiteral, Name, Access, Call, Unary,
                          Binary, Compare, Select>;

struct Expr {
    Span span;
    Node node;
    int depth = 1;             ///< of the tree below, this node included; make_expr counts it
    Type type = Type::unknown; ///< found
};

/// Passes may recurse: parsers and builders refuse deeper trees.
constexpr int deepest_expression = 1000;

ExprPtr make_expr(Span span, Node node);

/// A deep copy, with everything found.
ExprPtr clone(const Expr& expr);

/// The same tree; spans and what checks found do not matter.
bool same(const Expr& a, const Expr& b);

/// Calls `visit(child)` for each direct child, in the order of the text.
template <class Visit>
void for_each_child(const Expr& expr, Visit&& visit);

/// For std::visit.
template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

template <class Visit>
void for_each_child(const Expr& expr, Visit&& visit) {
    std::visit(Overloaded{[&](const Access& node) {
                              for (const auto& index : node.indices) visit(*index);
                          },
                          [&](const Call& node) {
                              for (const auto& argument : node.arguments) visit(*argument);
                          },
                          [&](const Unary& node) { visit(*node.operand); },
                          [&](const Binary& node) {
                              visit(*node.left);
                              visit(*node.right);
                          },
                          [&](const Compare& node) {
                              for (const auto& operand : node.operands) visit(*operand);
                          },
                          [&](const Select& node) {
                              visit(*node.condition);
                              visit(*node.yes);
                              visit(*node.no);
                          },
                          [](const auto&) {}},
               expr.node);
}

/// Calls `visit(node)` for the expression and everything below it, parents first.
template <class Visit>
void for_each_node(const Expr& expr, Visit&& visit) {
    visit(expr);
    for_each_child(expr, [&](const Expr& child) { for_each_node(child, visit); });
}

} // namespace farfield::lang
