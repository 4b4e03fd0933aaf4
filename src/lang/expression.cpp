// Making, copying and comparing trees of expressions.
#include "lang/expression.h"

#include <algorithm>
#include <utility>

namespace farfield::lang {
namespace {

std::vector<ExprPtr> clone_all(const std::vector<ExprPtr>& all) {
    std::vector<ExprPtr> out;
    out.reserve(all.size());
    for (const auto& one : all) out.push_back(clone(*one));
    return out;
}

Node clone_node(const Node& node) {
    return std::visit(
        Overloaded{[](const Access& n) -> Node {
                       return Access{n.text, n.name_span, clone_all(n.indices), n.symbol, n.offsets};
                   },
                   [](const Call& n) -> Node {
                       return Call{n.text, n.name_span, clone_all(n.arguments), n.function};
                   },
                   [](const Unary& n) -> Node {
                       return Unary{n.op, clone(*n.operand)};
                   },
                   [](const Binary& n) -> Node {
                       return Binary{n.op, clone(*n.left), clone(*n.right)};
                   },
                   [](const Compare& n) -> Node {
                       return Compare{clone_all(n.operands), n.ops};
                   },
                   [](const Select& n) -> Node {
                       return Select{clone(*n.condition), clone(*n.yes), clone(*n.no)};
                   },
                   [](const auto& n) -> Node { return n; }},
        node);
}

// What is not a child: texts, values, operators.
bool same_label(const Node& a, const Node& b) {
    return std::visit(
        Overloaded{[](const IntegerLiteral& x, const IntegerLiteral& y) { return x.value == y.value; },
                   [](const RealLiteral& x, const RealLiteral& y) { return x.value == y.value; },
                   [](const BooleanLiteral& x, const BooleanLiteral& y) { return x.value == y.value; },
                   [](const TextLiteral& x, const TextLiteral& y) { return x.value == y.value; },
                   [](const Name& x, const Name& y) { return x.text == y.text; },
                   [](const Access& x, const Access& y) { return x.text == y.text; },
                   [](const Call& x, const Call& y) { return x.text == y.text; },
                   [](const Unary& x, const Unary& y) { return x.op == y.op; },
                   [](const Binary& x, const Binary& y) { return x.op == y.op; },
                   [](const Compare& x, const Compare& y) { return x.ops == y.ops; },
                   [](const Select&, const Select&) { return true; },
                   [](const auto&, const auto&) { return false; }},
        a, b);
}

std::vector<const Expr*> children_of(const Expr& expr) {
    std::vector<const Expr*> out;
    for_each_child(expr, [&](const Expr& child) { out.push_back(&child); });
    return out;
}

} // namespace

std::string_view name_of(BinaryOp op) {
    constexpr std::array<std::string_view, 9> names{"+", "-", "*", "/", "//", "%", "^", "and", "or"};
    return names[static_cast<std::size_t>(op)];
}

std::string_view name_of(CompareOp op) {
    constexpr std::array<std::string_view, 6> names{"<", "<=", ">", ">=", "==", "!="};
    return names[static_cast<std::size_t>(op)];
}

ExprPtr make_expr(Span span, Node node) {
    auto expr = std::make_unique<Expr>();
    expr->span = span;
    expr->node = std::move(node);
    int below = 0;
    for_each_child(*expr, [&](const Expr& child) { below = std::max(below, child.depth); });
    expr->depth = below + 1;
    return expr;
}

ExprPtr clone(const Expr& expr) {
    auto copy = make_expr(expr.span, clone_node(expr.node));
    copy->type = expr.type;
    return copy;
}

bool same(const Expr& a, const Expr& b) {
    if (!same_label(a.node, b.node)) return false;
    const auto left = children_of(a);
    const auto right = children_of(b);
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const Expr* x, const Expr* y) { return same(*x, *y); });
}

} // namespace farfield::lang
