// Expressions of the builder: the trees that the parser would make.
#include "lang/expression.h"
#include "stencil/api/checked_name.h"

#include <farfield/stencil_builder.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

namespace farfield::stencil_builder {
namespace {

Expr made(lang::Node node) {
    std::shared_ptr<const lang::Expr> expr = lang::make_expr({}, std::move(node));
    if (expr->depth > lang::deepest_expression)
        throw InvalidArgument(
            fmt::format("an expression is nested more than {} deep; give parts of it names with "
                        "let",
                        lang::deepest_expression));
    return Expr(std::move(expr));
}

lang::ExprPtr operand(const Expr& expr) {
    if (expr.empty()) throw InvalidArgument("an expression is empty where a value is needed");
    return lang::clone(*expr.node());
}

Expr binary(lang::BinaryOp op, const Expr& a, const Expr& b) {
    return made(lang::Binary{op, operand(a), operand(b)});
}

Expr unary(lang::UnaryOp op, const Expr& a) { return made(lang::Unary{op, operand(a)}); }

Expr comparison(lang::CompareOp op, const Expr& a, const Expr& b) {
    lang::Compare node;
    node.operands.push_back(operand(a));
    node.operands.push_back(operand(b));
    node.ops.push_back(op);
    return made(std::move(node));
}

Expr text_call(std::string_view function, std::string_view text) {
    lang::Call node;
    node.text = function;
    node.arguments.push_back(lang::make_expr({}, lang::TextLiteral{std::string(text)}));
    return made(std::move(node));
}

} // namespace

Expr::Expr(bool value) { *this = made(lang::BooleanLiteral{value}); }

Expr::Expr(double value) {
    if (!std::isfinite(value))
        throw InvalidArgument(fmt::format("the number {} in an expression; numbers must be finite", value));
    const auto size = made(lang::RealLiteral{std::abs(value)});
    *this = std::signbit(value) ? -size : size;
}

Expr Expr::integer(std::int64_t value) {
    if (value == std::numeric_limits<std::int64_t>::min())
        throw InvalidArgument(fmt::format("the number {} in an expression is too large", value));
    const auto size = made(lang::IntegerLiteral{std::abs(value)});
    return value < 0 ? -size : size;
}

Name::Name(std::string name) : Expr(made(lang::Name{checked_name(name)})), text_(std::move(name)) {}

const Name x("x"), y("y"), z("z"), X("X"), Y("Y"), Z("Z"), dx("dx"), dy("dy"), dz("dz"), t("t"), step("step"),
    dt("dt"), pi("pi"), interior("interior"), everywhere("everywhere");

Expr operator+(const Expr& a, const Expr& b) { return binary(lang::BinaryOp::add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return binary(lang::BinaryOp::subtract, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return binary(lang::BinaryOp::multiply, a, b); }
Expr operator/(const Expr& a, const Expr& b) { return binary(lang::BinaryOp::divide, a, b); }
Expr operator%(const Expr& a, const Expr& b) { return binary(lang::BinaryOp::remainder, a, b); }
Expr operator-(const Expr& a) { return unary(lang::UnaryOp::negate, a); }
Expr operator<(const Expr& a, const Expr& b) { return comparison(lang::CompareOp::less, a, b); }
Expr operator<=(const Expr& a, const Expr& b) { return comparison(lang::CompareOp::less_equal, a, b); }
Expr operator>(const Expr& a, const Expr& b) { return comparison(lang::CompareOp::greater, a, b); }
Expr operator>=(const Expr& a, const Expr& b) { return comparison(lang::CompareOp::greater_equal, a, b); }
Expr operator==(const Expr& a, const Expr& b) { return comparison(lang::CompareOp::equal, a, b); }
Expr operator!=(const Expr& a, const Expr& b) { return comparison(lang::CompareOp::not_equal, a, b); }
Expr operator&&(const Expr& a, const Expr& b) { return binary(lang::BinaryOp::logical_and, a, b); }
Expr operator||(const Expr& a, const Expr& b) { return binary(lang::BinaryOp::logical_or, a, b); }
Expr operator!(const Expr& a) { return unary(lang::UnaryOp::logical_not, a); }
Expr power(const Expr& base, const Expr& exponent) { return binary(lang::BinaryOp::power, base, exponent); }
Expr floor_divide(const Expr& a, const Expr& b) { return binary(lang::BinaryOp::floor_divide, a, b); }

Expr where(const Expr& condition, const Expr& yes, const Expr& no) {
    return made(lang::Select{operand(condition), operand(yes), operand(no)});
}

Expr call(std::string_view function, std::initializer_list<Expr> arguments) {
    lang::Call node;
    node.text = checked_name(std::string(function));
    for (const auto& argument : arguments) node.arguments.push_back(operand(argument));
    return made(std::move(node));
}

Expr abs(const Expr& a) { return call("abs", {a}); }
Expr cbrt(const Expr& a) { return call("cbrt", {a}); }
Expr ceil(const Expr& a) { return call("ceil", {a}); }
Expr cos(const Expr& a) { return call("cos", {a}); }
Expr exp(const Expr& a) { return call("exp", {a}); }
Expr floor(const Expr& a) { return call("floor", {a}); }
Expr log(const Expr& a) { return call("log", {a}); }
Expr sin(const Expr& a) { return call("sin", {a}); }
Expr sqrt(const Expr& a) { return call("sqrt", {a}); }
Expr tanh(const Expr& a) { return call("tanh", {a}); }
Expr max(const Expr& a, const Expr& b) { return call("max", {a, b}); }
Expr min(const Expr& a, const Expr& b) { return call("min", {a, b}); }
Expr image(std::string_view file) { return text_call("image", file); }
Expr data(std::string_view file) { return text_call("data", file); }

Expr Field::at(std::initializer_list<Expr> indices) const {
    lang::Access node;
    node.text = text();
    for (const auto& index : indices) node.indices.push_back(operand(index));
    return made(std::move(node));
}

} // namespace farfield::stencil_builder
