// Operators, functions and comparisons; lowering/names.cpp has what names stand for.
#include "stencil/lowering/expression_lowering.h"

#include "stencil/ir/op_info.h"

#include <farfield/error.h>

#include <cmath>

namespace farfield::stencil {

using ir::Op;
using ir::ValueType;
using lang::BinaryOp;
using lang::Expr;
using lang::Function;

namespace {

Op op_of(Function function) {
    switch (function) {
    case Function::exp:
        return Op::exp;
    case Function::log:
        return Op::log;
    case Function::sin:
        return Op::sin;
    case Function::cos:
        return Op::cos;
    case Function::tanh:
        return Op::tanh;
    case Function::sqrt:
        return Op::sqrt;
    case Function::cbrt:
        return Op::cbrt;
    case Function::abs:
        return Op::abs;
    case Function::min:
        return Op::min;
    case Function::max:
        return Op::max;
    case Function::pow:
        return Op::pow;
    case Function::floor:
        return Op::floor;
    case Function::ceil:
        return Op::ceil;
    default:
        throw InternalError("a function without an operation");
    }
}

Op op_of(BinaryOp op) {
    switch (op) {
    case BinaryOp::add:
        return Op::add;
    case BinaryOp::subtract:
        return Op::subtract;
    case BinaryOp::multiply:
        return Op::multiply;
    case BinaryOp::divide:
        return Op::divide;
    case BinaryOp::floor_divide:
        return Op::floor_divide;
    case BinaryOp::remainder:
        return Op::remainder;
    default:
        throw InternalError("an operator without an operation");
    }
}

constexpr double largest_chain = 16;

} // namespace

int ExpressionLowering::lower(const Expr& expr) {
    return std::visit([&](const auto& node) { return lower_node(node, expr); }, expr.node);
}

int ExpressionLowering::as_real(int node) {
    if (ir::is_real(builder_.type(node))) return node;
    return builder_.convert(node, builder_.varies(node) ? precision_ : ValueType::float64);
}

int ExpressionLowering::at_precision(int node) { return builder_.convert(as_real(node), precision_); }

std::pair<int, int> ExpressionLowering::together(int a, int b) {
    a = as_real(a);
    b = as_real(b);
    if (!builder_.varies(a) && !builder_.varies(b)) return {a, b};
    return {at_precision(a), at_precision(b)};
}

int ExpressionLowering::arithmetic(Op op, int a, int b) {
    if (builder_.type(a) == ValueType::integer && builder_.type(b) == ValueType::integer &&
        op != Op::divide && op != Op::pow)
        return builder_.make(op, ValueType::integer, a, b);
    const auto [x, y] = together(a, b);
    return builder_.make(op, builder_.type(x), x, y);
}

int ExpressionLowering::lower_node(const lang::IntegerLiteral& node, const Expr&) {
    return builder_.integer(node.value);
}
int ExpressionLowering::lower_node(const lang::RealLiteral& node, const Expr&) {
    return builder_.real(node.value);
}
int ExpressionLowering::lower_node(const lang::BooleanLiteral& node, const Expr&) {
    return builder_.truth(node.value);
}
int ExpressionLowering::lower_node(const lang::TextLiteral&, const Expr&) {
    throw InternalError("a text is no value");
}

int ExpressionLowering::lower_node(const lang::Unary& node, const Expr&) {
    const int operand = lower(*node.operand);
    const auto op = node.op == lang::UnaryOp::negate ? Op::negate : Op::logical_not;
    return builder_.make(op, builder_.type(operand), operand);
}

int ExpressionLowering::lower_node(const lang::Binary& node, const Expr& expr) {
    switch (node.op) {
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: {
        const int left = lower(*node.left);
        const int right = lower(*node.right);
        return builder_.make(node.op == BinaryOp::logical_and ? Op::logical_and : Op::logical_or,
                             ValueType::boolean, left, right);
    }
    case BinaryOp::power:
        return power(node, expr);
    case BinaryOp::add:
    case BinaryOp::subtract:
        if (expr.type == lang::Type::integer) break;
        return [&] {
            auto left = term(*node.left);
            return sum(node.op == BinaryOp::subtract, left, term(*node.right));
        }();
    default:
        break;
    }
    const int left = lower(*node.left);
    return arithmetic(op_of(node.op), left, lower(*node.right));
}

int ExpressionLowering::power(const lang::Binary& node, const Expr& expr) {
    const int base = lower(*node.left);
    if (expr.type == lang::Type::integer)
        return builder_.power(base, std::get<lang::IntegerLiteral>(node.right->node).value);
    const int exponent = lower(*node.right);
    if (const auto* value = builder_.constant_value(exponent)) {
        const double n =
            value->type == ValueType::integer ? static_cast<double>(value->integer) : value->real;
        if (n == 0) return builder_.real(1); // whatever the base: the same in all cells
        if (n == std::floor(n) && std::fabs(n) <= largest_chain)
            return builder_.power(as_real(base), static_cast<std::int64_t>(n));
    }
    return arithmetic(Op::pow, base, exponent);
}

// In the way `kernel`, a product that varies stays open for an fma.
ExpressionLowering::Term ExpressionLowering::term(const Expr& expr) {
    const auto* binary = std::get_if<lang::Binary>(&expr.node);
    if (way_ == Way::values || binary == nullptr || binary->op != BinaryOp::multiply ||
        expr.type != lang::Type::real)
        return {lower(expr), {}};
    const int left = lower(*binary->left);
    const auto [a, b] = together(left, lower(*binary->right));
    return {-1, {a, b}};
}

int ExpressionLowering::rounded(const Term& term) {
    if (!term.product.formed()) return term.node;
    return builder_.make(Op::multiply, builder_.type(term.product.a), term.product.a, term.product.b);
}

int ExpressionLowering::sum(bool subtract, Term left, Term right) {
    const auto varies = [&](const Term& one) {
        return one.product.formed() ? builder_.varies(one.product.a) || builder_.varies(one.product.b)
                                    : builder_.varies(one.node);
    };
    // A product that is the same in all cells is rounded before it meets one that is not.
    const bool sum_varies = varies(left) || varies(right);
    for (auto* one : {&left, &right})
        if (one->product.formed() && varies(*one) != sum_varies) *one = {rounded(*one), {}};
    if (!left.product.formed() && !right.product.formed())
        return arithmetic(subtract ? Op::subtract : Op::add, left.node, right.node);
    auto [a, b] = left.product.formed() ? left.product : right.product;
    int c = left.product.formed() ? rounded(right) : left.node;
    c = sum_varies ? at_precision(c) : as_real(c);
    const auto type = builder_.type(a);
    if (subtract && left.product.formed()) c = builder_.make(Op::negate, type, c);
    if (subtract && !left.product.formed()) a = builder_.make(Op::negate, type, a);
    return builder_.make(Op::fma, type, a, b, c);
}

int ExpressionLowering::sum_with(bool subtract, int left, const Expr& right) {
    return sum(subtract, {left, {}}, term(right));
}

int ExpressionLowering::product_with(int left, const Expr& right) {
    return arithmetic(Op::multiply, left, lower(right));
}

int ExpressionLowering::compare(lang::CompareOp op, int a, int b) {
    const auto type = builder_.type(a);
    const bool as_they_are = type == builder_.type(b) && !ir::is_real(type);
    const auto [x, y] = as_they_are ? std::pair(a, b) : together(a, b);
    switch (op) {
    case lang::CompareOp::less:
        return builder_.make(Op::less, ValueType::boolean, x, y);
    case lang::CompareOp::less_equal:
        return builder_.make(Op::less_equal, ValueType::boolean, x, y);
    case lang::CompareOp::greater:
        return builder_.make(Op::less, ValueType::boolean, y, x);
    case lang::CompareOp::greater_equal:
        return builder_.make(Op::less_equal, ValueType::boolean, y, x);
    case lang::CompareOp::equal:
        return builder_.make(Op::equal, ValueType::boolean, x, y);
    default:
        return builder_.make(Op::not_equal, ValueType::boolean, x, y);
    }
}

int ExpressionLowering::lower_node(const lang::Compare& node, const Expr&) {
    int previous = lower(*node.operands[0]);
    int all = -1;
    for (std::size_t i = 0; i < node.ops.size(); ++i) {
        const int next = lower(*node.operands[i + 1]);
        const int pair = compare(node.ops[i], previous, next);
        all = all < 0 ? pair : builder_.make(Op::logical_and, ValueType::boolean, all, pair);
        previous = next;
    }
    return all;
}

int ExpressionLowering::lower_node(const lang::Select& node, const Expr&) {
    const int condition = lower(*node.condition);
    int yes = lower(*node.yes);
    int no = lower(*node.no);
    if (builder_.type(yes) != builder_.type(no) || ir::is_real(builder_.type(yes))) {
        std::tie(yes, no) = together(yes, no);
        if (builder_.varies(condition)) {
            yes = at_precision(yes);
            no = at_precision(no);
        }
    }
    return builder_.make(Op::select, builder_.type(yes), condition, yes, no);
}

int ExpressionLowering::lower_node(const lang::Call& node, const Expr& expr) {
    if (node.function == Function::image || node.function == Function::data) return data_file(node);
    const auto op = op_of(node.function);
    int result = lower(*node.arguments[0]);
    const bool keeps_integers = expr.type == lang::Type::integer;
    if (!keeps_integers) result = as_real(result);
    if (ir::operands_of(op) == 1) return builder_.make(op, builder_.type(result), result);
    for (std::size_t i = 1; i < node.arguments.size(); ++i)
        result = arithmetic(op, result, lower(*node.arguments[i]));
    return result;
}

} // namespace farfield::stencil
