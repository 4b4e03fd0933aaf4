// Constant evaluation over a tree of known types.
#include "lang/evaluate.h"

#include "lang/diagnostic_kinds.h"
#include "math/portable/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace farfield::lang {
namespace {

using Maybe = std::optional<Value>;
using Integer = std::int64_t;

constexpr std::string_view too_large = "this whole number is beyond 64 bits";

double power_of(double base, double exponent) { return portable::pow(base, exponent); }

class Evaluator {
public:
    Evaluator(const NameValues& names, std::string_view what, Diagnostics& diagnostics)
        : names_(names), what_(what), diagnostics_(diagnostics) {}

    Maybe value(const Expr& expr) {
        if (expr.type == Type::unknown) return std::nullopt;
        return std::visit([&](const auto& node) { return value_of(node, expr); }, expr.node);
    }

private:
    Maybe value_of(const IntegerLiteral& node, const Expr&) { return node.value; }
    Maybe value_of(const RealLiteral& node, const Expr&) { return node.value; }
    Maybe value_of(const BooleanLiteral& node, const Expr&) { return node.value; }
    Maybe value_of(const TextLiteral&, const Expr& expr) { return not_constant(expr, "a text"); }
    Maybe value_of(const Access& node, const Expr& expr) {
        return not_constant(expr, fmt::format("a value of '{}' in a cell", node.text));
    }
    Maybe value_of(const Name& node, const Expr& expr) {
        if (auto value = names_(node)) return value;
        return not_constant(expr, fmt::format("'{}'", node.text));
    }

    Maybe value_of(const Unary& node, const Expr& expr) {
        const auto operand = value(*node.operand);
        if (!operand) return std::nullopt;
        if (node.op == UnaryOp::logical_not) return !std::get<bool>(*operand);
        if (const auto* real = std::get_if<double>(&*operand)) return -*real;
        const auto integer = std::get<Integer>(*operand);
        if (integer == std::numeric_limits<Integer>::min()) return failed(expr, too_large);
        return -integer;
    }

    Maybe value_of(const Binary& node, const Expr& expr) {
        const auto left = value(*node.left);
        const auto right = value(*node.right);
        if (!left || !right) return std::nullopt;
        if (node.op == BinaryOp::logical_and) return std::get<bool>(*left) && std::get<bool>(*right);
        if (node.op == BinaryOp::logical_or) return std::get<bool>(*left) || std::get<bool>(*right);
        if (expr.type == Type::integer)
            return integer_result(node.op, std::get<Integer>(*left), std::get<Integer>(*right), expr);
        return real_result(node.op, as_real(*left), as_real(*right), expr);
    }

    Maybe integer_result(BinaryOp op, Integer a, Integer b, const Expr& expr) {
        Integer result = 0;
        bool overflow = false;
        switch (op) {
        case BinaryOp::add:
            overflow = __builtin_add_overflow(a, b, &result);
            break;
        case BinaryOp::subtract:
            overflow = __builtin_sub_overflow(a, b, &result);
            break;
        case BinaryOp::multiply:
            overflow = __builtin_mul_overflow(a, b, &result);
            break;
        case BinaryOp::power:
            overflow = integer_power(a, b, result);
            break;
        default:
            return quotient(op, a, b, expr);
        }
        if (overflow) return failed(expr, too_large);
        return result;
    }

    Maybe quotient(BinaryOp op, Integer a, Integer b, const Expr& expr) {
        if (b == 0) return failed(expr, fmt::format("{} {} 0 has no value", a, name_of(op)));
        if (b == -1) { // the one quotient that can overflow
            if (op == BinaryOp::remainder) return Integer{0};
            if (a == std::numeric_limits<Integer>::min()) return failed(expr, too_large);
            return -a;
        }
        const bool adjust = a % b != 0 && (a < 0) != (b < 0);
        if (op == BinaryOp::floor_divide) return a / b - (adjust ? 1 : 0);
        return a % b + (adjust ? b : 0);
    }

    // True on overflow. The exponent is a literal, so not negative.
    static bool integer_power(Integer base, Integer exponent, Integer& result) {
        result = 1;
        if (base == 0 || base == 1 || base == -1) {
            result = exponent == 0 ? 1 : (base == -1 && exponent % 2 == 0) ? 1 : base;
            return false;
        }
        for (; exponent > 0; --exponent) // overflows after 63 rounds at most
            if (__builtin_mul_overflow(result, base, &result)) return true;
        return false;
    }

    Maybe real_result(BinaryOp op, double a, double b, const Expr& expr) {
        switch (op) {
        case BinaryOp::add:
            return finite(a + b, expr);
        case BinaryOp::subtract:
            return finite(a - b, expr);
        case BinaryOp::multiply:
            return finite(a * b, expr);
        case BinaryOp::divide:
            if (b == 0) return failed(expr, fmt::format("{} / 0 has no value", real_text(a)));
            return finite(a / b, expr);
        default:
            return finite(power_of(a, b), expr);
        }
    }

    Maybe value_of(const Compare& node, const Expr&) {
        std::vector<Value> values;
        for (const auto& operand : node.operands) {
            const auto one = value(*operand);
            if (!one) return std::nullopt;
            values.push_back(*one);
        }
        for (std::size_t i = 0; i < node.ops.size(); ++i)
            if (!compare(values[i], node.ops[i], values[i + 1])) return false;
        return true;
    }

    static bool compare(const Value& a, CompareOp op, const Value& b) {
        if (a.index() == b.index())
            return std::visit(
                [&](const auto& x) { return ordered(x, op, std::get<std::decay_t<decltype(x)>>(b)); }, a);
        return ordered(as_real(a), op, as_real(b));
    }
    template <class T>
    static bool ordered(const T& a, CompareOp op, const T& b) {
        switch (op) {
        case CompareOp::less:
            return a < b;
        case CompareOp::less_equal:
            return a <= b;
        case CompareOp::greater:
            return a > b;
        case CompareOp::greater_equal:
            return a >= b;
        case CompareOp::equal:
            return a == b;
        default:
            return a != b;
        }
    }

    Maybe value_of(const Select& node, const Expr& expr) {
        const auto condition = value(*node.condition);
        if (!condition) return std::nullopt;
        const auto chosen = value(std::get<bool>(*condition) ? *node.yes : *node.no);
        if (chosen && expr.type == Type::real) return as_real(*chosen);
        return chosen;
    }

    Maybe value_of(const Call& node, const Expr& expr) {
        std::vector<Value> values;
        for (const auto& argument : node.arguments) {
            if (argument->type == Type::text) return not_constant(expr, fmt::format("'{}'", node.text));
            const auto one = value(*argument);
            if (!one) return std::nullopt;
            values.push_back(*one);
        }
        if (expr.type == Type::integer) return integer_call(node.function, values, expr);
        if (node.function == Function::min || node.function == Function::max)
            return extreme(node.function, values);
        const double x = as_real(values[0]);
        if (node.function == Function::pow) return finite(power_of(x, as_real(values[1])), expr);
        return finite(of_one(node.function, x), expr);
    }

    Maybe integer_call(Function function, const std::vector<Value>& values, const Expr& expr) {
        auto result = std::get<Integer>(values[0]);
        if (function == Function::abs) {
            if (result == std::numeric_limits<Integer>::min()) return failed(expr, too_large);
            return result < 0 ? -result : result;
        }
        for (const auto& value : values) {
            const auto other = std::get<Integer>(value);
            result = function == Function::min ? std::min(result, other) : std::max(result, other);
        }
        return result;
    }

    static Maybe extreme(Function function, const std::vector<Value>& values) {
        double result = as_real(values[0]);
        for (const auto& value : values)
            result = function == Function::min ? std::min(result, as_real(value))
                                               : std::max(result, as_real(value));
        return result;
    }

    static double of_one(Function function, double x) {
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
        case Function::sqrt:
            return std::sqrt(x);
        case Function::abs:
            return std::fabs(x);
        case Function::floor:
            return std::floor(x);
        case Function::ceil:
            return std::ceil(x);
        default:
            return std::numeric_limits<double>::quiet_NaN();
        }
    }

    Maybe finite(double result, const Expr& expr) {
        if (std::isnan(result)) return failed(expr, "it has no real value");
        if (std::isinf(result)) return failed(expr, "it is larger than a double can be");
        return result;
    }
    Maybe failed(const Expr& expr, std::string_view message) {
        diagnostics_.report(kinds::bad_arithmetic, expr.span,
                            fmt::format("{} cannot be computed: {}", what_, message));
        return std::nullopt;
    }
    Maybe not_constant(const Expr& expr, std::string_view culprit) {
        diagnostics_.report(kinds::not_constant, expr.span,
                            fmt::format("{} must be known before the run, and {} is not", what_, culprit),
                            "use numbers, parameters and constants made of them");
        return std::nullopt;
    }

    const NameValues& names_;
    std::string_view what_;
    Diagnostics& diagnostics_;
};

} // namespace

std::optional<Value> evaluate(const Expr& expr, const NameValues& names, std::string_view what,
                              Diagnostics& diagnostics) {
    return Evaluator(names, what, diagnostics).value(expr);
}

} // namespace farfield::lang
