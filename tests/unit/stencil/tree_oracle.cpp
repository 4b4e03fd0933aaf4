// The oracle's expressions; tree_oracle_steps.cpp has statements.
#include "tree_oracle.h"

#include "math/portable/functions.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace farfield::testing {

using namespace stencil;
using lang::BinaryOp;
using lang::Function;

namespace {

template <class T>
T elementary(Function function, T x, T y) {
    switch (function) {
    case Function::exp:
        return portable::exp(x);
    case Function::log:
        return portable::log(x);
    case Function::sin:
        return portable::sin(x);
    case Function::cos:
        return portable::cos(x);
    case Function::tanh:
        return portable::tanh(x);
    case Function::cbrt:
        return portable::cbrt(x);
    case Function::pow:
        return portable::pow(x, y);
    case Function::sqrt:
        return std::sqrt(x);
    case Function::floor:
        return std::floor(x);
    case Function::ceil:
        return std::ceil(x);
    case Function::abs:
        return std::fabs(x);
    case Function::min:
        return y < x ? y : x;
    case Function::max:
        return x < y ? y : x;
    default:
        throw std::logic_error("a function of files");
    }
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    if (b == 0) return 0;
    const auto q = a / b;
    return q - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::int64_t outside(std::int64_t i, std::int64_t n, Boundary boundary) { // −1: reads 0
    if (i >= 0 && i < n) return i;
    switch (boundary) {
    case Boundary::zero:
        return -1;
    case Boundary::periodic:
        return ((i % n) + n) % n;
    case Boundary::clamp:
        return i < 0 ? 0 : n - 1;
    case Boundary::mirror:
        return i < 0 ? -1 - i : 2 * n - 1 - i;
    default:
        throw std::logic_error("a read beyond a field without a boundary");
    }
}

} // namespace

Boundary TreeOracle::boundary(SymbolKind kind, int index, std::size_t axis) const {
    return kind == SymbolKind::field ? model_.fields[at(index)].boundary[axis] : Boundary::none;
}

std::int64_t TreeOracle::cells(int grid, std::size_t axis) const {
    const auto& axes = model_.grids[at(grid)].axes;
    return axis < axes.size() ? axes[axis].cells : 1;
}

std::size_t TreeOracle::place(int grid, const Cell& cell) const {
    return static_cast<std::size_t>((cell[2] * cells(grid, 1) + cell[1]) * cells(grid, 0) + cell[0]);
}

TreeOracle::Value TreeOracle::converted(Value value, Type type) {
    if (value.type == type) return value;
    if (value.type == Type::whole)
        value.real = type == Type::single ? static_cast<double>(static_cast<float>(value.whole))
                                          : static_cast<double>(value.whole);
    else if (type == Type::single)
        value.real = static_cast<double>(static_cast<float>(value.real));
    value.type = type;
    return value;
}

TreeOracle::Value TreeOracle::as_real(Value value, const Frame& frame) {
    if (value.type == Type::single || value.type == Type::real) return value;
    return converted(value, value.varies ? frame.precision : Type::real);
}

void TreeOracle::together(Value& a, Value& b, const Frame& frame) {
    a = as_real(a, frame);
    b = as_real(b, frame);
    if (!a.varies && !b.varies) return;
    a = converted(a, frame.precision);
    b = converted(b, frame.precision);
}

TreeOracle::Value TreeOracle::arithmetic(BinaryOp op, Value a, Value b, const Frame& frame) {
    Value out{Type::whole, a.varies || b.varies};
    if (a.type == Type::whole && b.type == Type::whole && op != BinaryOp::divide && op != BinaryOp::power) {
        const auto x = static_cast<std::uint64_t>(a.whole);
        const auto y = static_cast<std::uint64_t>(b.whole);
        switch (op) {
        case BinaryOp::add:
            out.whole = static_cast<std::int64_t>(x + y);
            return out;
        case BinaryOp::subtract:
            out.whole = static_cast<std::int64_t>(x - y);
            return out;
        case BinaryOp::multiply:
            out.whole = static_cast<std::int64_t>(x * y);
            return out;
        case BinaryOp::floor_divide:
            out.whole = floor_divide(a.whole, b.whole);
            return out;
        default:
            out.whole = b.whole == 0 ? 0 : a.whole - floor_divide(a.whole, b.whole) * b.whole;
            return out;
        }
    }
    together(a, b, frame);
    out.type = a.type;
    const auto compute = [op]<class T>(T x, T y) {
        switch (op) {
        case BinaryOp::add:
            return x + y;
        case BinaryOp::subtract:
            return x - y;
        case BinaryOp::multiply:
            return x * y;
        case BinaryOp::divide:
            return x / y;
        default:
            return elementary(Function::pow, x, y);
        }
    };
    out.real = out.type == Type::single
                   ? static_cast<double>(compute(static_cast<float>(a.real), static_cast<float>(b.real)))
                   : compute(a.real, b.real);
    return out;
}

TreeOracle::Value TreeOracle::value(const lang::Expr& expr, const Frame& frame) const {
    return std::visit(
        lang::Overloaded{
            [&](const lang::IntegerLiteral& node) {
                return Value{Type::whole, false, node.value};
            },
            [&](const lang::RealLiteral& node) {
                return Value{Type::real, false, 0, node.value};
            },
            [&](const lang::BooleanLiteral& node) {
                return Value{Type::truth, false, node.value ? 1 : 0};
            },
            [&](const lang::TextLiteral&) -> Value { throw std::logic_error("a text"); },
            [&](const lang::Name& node) { return name(node, frame); },
            [&](const lang::Access& node) {
                return stored(kind_of(node.symbol), node.symbol.index, node.offsets, frame);
            },
            [&](const lang::Call& node) { return call(node, expr, frame); },
            [&](const lang::Unary& node) {
                auto operand = value(*node.operand, frame);
                if (node.op == lang::UnaryOp::logical_not)
                    operand.whole = 1 - operand.whole;
                else
                    operand = {operand.type, operand.varies, -operand.whole, -operand.real};
                return operand;
            },
            [&](const lang::Binary& node) { return binary(node, expr, frame); },
            [&](const lang::Compare& node) { return compare(node, frame); },
            [&](const lang::Select& node) {
                const auto condition = value(*node.condition, frame);
                auto yes = value(*node.yes, frame);
                auto no = value(*node.no, frame);
                if (yes.type != no.type || (yes.type != Type::whole && yes.type != Type::truth)) {
                    together(yes, no, frame);
                    if (condition.varies)
                        yes = converted(yes, frame.precision), no = converted(no, frame.precision);
                }
                auto out = condition.whole != 0 ? yes : no;
                out.varies = condition.varies || yes.varies || no.varies;
                return out;
            }},
        expr.node);
}

TreeOracle::Value TreeOracle::name(const lang::Name& node, const Frame& frame) const {
    if (const auto constant = constant_value(model_, node)) {
        if (const auto* truth = std::get_if<bool>(&*constant)) return {Type::truth, false, *truth ? 1 : 0};
        if (const auto* whole = std::get_if<std::int64_t>(&*constant)) return {Type::whole, false, *whole};
        return {Type::real, false, 0, std::get<double>(*constant)};
    }
    const auto& grid = model_.grids[at(frame.grid)];
    switch (kind_of(node.symbol)) {
    case SymbolKind::cell_index:
        return {Type::whole, true, frame.cell[at(grid.axis_of(node.symbol.index))]};
    case SymbolKind::position: {
        const auto axis = at(grid.axis_of(node.symbol.index));
        const double index = static_cast<double>(frame.cell[axis]) + node.shift;
        const Value x{Type::real, true, 0, grid.axes[axis].origin + index * grid.axes[axis].spacing};
        return converted(x, frame.precision);
    }
    case SymbolKind::time:
        return {Type::real, false, 0, static_cast<double>(step_) * model_.dt};
    case SymbolKind::step:
        return {Type::whole, false, step_};
    case SymbolKind::everywhere:
        return {Type::truth, false, 1};
    case SymbolKind::interior:
        return {Type::truth, true, frame.interior ? 1 : 0};
    case SymbolKind::temporary:
        return frame.temporaries.at(node.symbol.index);
    case SymbolKind::subdomain: {
        auto out = value(*model_.subdomains[at(node.symbol.index)].condition, {frame.grid, frame.cell});
        return out;
    }
    default:
        return stored(kind_of(node.symbol), node.symbol.index, {}, frame);
    }
}

TreeOracle::Value TreeOracle::stored(SymbolKind kind, int index, const std::array<int, 3>& offsets,
                                     const Frame& frame) const {
    const bool field = kind == SymbolKind::field;
    const bool array = kind == SymbolKind::array;
    const auto& values = field ? fields_[at(index)] : array ? arrays_[at(index)] : coefficients_[at(index)];
    const auto precision = field   ? model_.fields[at(index)].precision
                           : array ? model_.arrays[at(index)].precision
                                   : model_.coefficients[at(index)].precision;
    Value out{precision == Precision::double_precision ? Type::real : Type::single, true, 0, 0};
    auto cell = frame.cell;
    bool zero = false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (array && axis != at(model_.arrays[at(index)].axis)) continue;
        cell[axis] =
            outside(cell[axis] + offsets[axis], cells(frame.grid, axis), boundary(kind, index, axis));
        zero = zero || cell[axis] < 0;
    }
    if (!zero)
        out.real = array ? values.at(static_cast<std::size_t>(cell[at(model_.arrays[at(index)].axis)]))
                         : values.at(place(frame.grid, cell));
    return converted(out, frame.precision);
}

TreeOracle::Value TreeOracle::power(Value base, std::int64_t n) const {
    const Frame plain{0, {}, false, base.type == Type::single ? Type::single : Type::real};
    const auto times = [&](const Value& a, const Value& b) {
        return arithmetic(BinaryOp::multiply, a, b, plain);
    };
    const bool whole = base.type == Type::whole;
    const Value one{base.type, base.varies, 1, whole ? 0.0 : 1.0};
    auto left = static_cast<std::uint64_t>(n < 0 ? -n : n);
    if (left == 0) return {whole ? Type::whole : Type::real, false, 1, 1.0}; // the same in all cells
    std::uint64_t bit = 1;
    while (bit <= left / 2) bit *= 2;
    Value out = base;
    for (bit /= 2; bit > 0; bit /= 2) {
        out = times(out, out);
        if ((left & bit) != 0) out = times(out, base);
    }
    return n < 0 ? arithmetic(BinaryOp::divide, one, out, plain) : out;
}

// a·b + c and its like in one rounding: a product on the left first, otherwise one on the right. A product
// that is the same in all cells is rounded by itself where the sum is not.
TreeOracle::Value TreeOracle::sum(bool subtract, const Value* left, const lang::Expr* left_expr,
                                  const lang::Expr& right, const Frame& frame) const {
    struct Factors {
        Value a, b;
    };
    const auto factors = [&](const lang::Expr* expr) -> std::optional<Factors> {
        const auto* product = expr == nullptr ? nullptr : std::get_if<lang::Binary>(&expr->node);
        if (!frame.kernel || product == nullptr || product->op != BinaryOp::multiply ||
            expr->type != lang::Type::real)
            return std::nullopt;
        Factors out{value(*product->left, frame), value(*product->right, frame)};
        together(out.a, out.b, frame);
        return out;
    };
    auto first = factors(left_expr);
    auto second = factors(&right);
    auto c1 = left != nullptr ? *left : value(*left_expr, frame);
    auto c2 = value(right, frame);
    const bool varies = c1.varies || c2.varies;
    if (first && (first->a.varies || first->b.varies) != varies) first.reset();
    if (second && (second->a.varies || second->b.varies) != varies) second.reset();
    if (!first && !second) return arithmetic(subtract ? BinaryOp::subtract : BinaryOp::add, c1, c2, frame);
    auto [a, b] = first ? *first : *second;
    auto c = first ? c2 : c1;
    together(a, c, frame);
    b = converted(b, a.type);
    if (subtract) (first ? c : a).real *= -1;
    Value out{a.type, varies};
    out.real = a.type == Type::single
                   ? static_cast<double>(std::fma(static_cast<float>(a.real), static_cast<float>(b.real),
                                                  static_cast<float>(c.real)))
                   : std::fma(a.real, b.real, c.real);
    return out;
}

TreeOracle::Value TreeOracle::binary(const lang::Binary& node, const lang::Expr& expr,
                                     const Frame& frame) const {
    switch (node.op) {
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: {
        const auto a = value(*node.left, frame);
        const auto b = value(*node.right, frame);
        return {Type::truth, a.varies || b.varies,
                node.op == BinaryOp::logical_and ? a.whole * b.whole : std::max(a.whole, b.whole)};
    }
    case BinaryOp::add:
    case BinaryOp::subtract:
        if (expr.type != lang::Type::integer)
            return sum(node.op == BinaryOp::subtract, nullptr, node.left.get(), *node.right, frame);
        break;
    case BinaryOp::power: {
        const auto base = value(*node.left, frame);
        const auto exponent = value(*node.right, frame);
        if (expr.type == lang::Type::integer) return power(base, exponent.whole);
        bool constant = true; // made of constants alone
        lang::for_each_node(*node.right, [&](const lang::Expr& part) {
            const auto* inner = std::get_if<lang::Name>(&part.node);
            constant = constant && !std::holds_alternative<lang::Access>(part.node) &&
                       (inner == nullptr || constant_value(model_, *inner).has_value());
        });
        const double n = as_real(exponent, frame).real;
        if (constant && n == std::floor(n) && std::fabs(n) <= 16)
            return power(as_real(base, frame), static_cast<std::int64_t>(n));
        return arithmetic(BinaryOp::power, base, exponent, frame);
    }
    default:
        break;
    }
    return arithmetic(node.op, value(*node.left, frame), value(*node.right, frame), frame);
}

TreeOracle::Value TreeOracle::compare(const lang::Compare& node, const Frame& frame) const {
    Value out{Type::truth, false, 1};
    for (std::size_t i = 0; i < node.ops.size(); ++i) {
        auto a = value(*node.operands[i], frame);
        auto b = value(*node.operands[i + 1], frame);
        out.varies = out.varies || a.varies || b.varies;
        const bool whole = a.type == b.type && (a.type == Type::whole || a.type == Type::truth);
        if (!whole) together(a, b, frame);
        const auto judge = [&](auto x, auto y) {
            switch (node.ops[i]) {
            case lang::CompareOp::less:
                return x < y;
            case lang::CompareOp::less_equal:
                return x <= y;
            case lang::CompareOp::greater:
                return x > y;
            case lang::CompareOp::greater_equal:
                return x >= y;
            case lang::CompareOp::equal:
                return x == y;
            default:
                return x != y;
            }
        };
        if (!(whole ? judge(a.whole, b.whole) : judge(a.real, b.real))) out.whole = 0;
    }
    return out;
}

TreeOracle::Value TreeOracle::call(const lang::Call& node, const lang::Expr& expr, const Frame& frame) const {
    auto out = value(*node.arguments[0], frame);
    const bool whole = expr.type == lang::Type::integer;
    if (whole && node.function == Function::abs) out.whole = out.whole < 0 ? -out.whole : out.whole;
    if (!whole) out = as_real(out, frame);
    const auto apply = [&](const Value& a, const Value& b) {
        Value result{a.type, a.varies || b.varies};
        if (a.type == Type::whole)
            result.whole =
                node.function == Function::min ? std::min(a.whole, b.whole) : std::max(a.whole, b.whole);
        else if (a.type == Type::single)
            result.real = static_cast<double>(
                elementary(node.function, static_cast<float>(a.real), static_cast<float>(b.real)));
        else
            result.real = elementary(node.function, a.real, b.real);
        return result;
    };
    if (node.arguments.size() == 1 && !whole) return apply(out, out);
    for (std::size_t i = 1; i < node.arguments.size(); ++i) {
        auto next = value(*node.arguments[i], frame);
        if (out.type != Type::whole || next.type != Type::whole) together(out, next, frame);
        out = apply(out, next);
    }
    return out;
}

} // namespace farfield::testing
