// The rules of types: numbers widen from whole to real, truth values are no numbers.
#include "lang/check_types.h"

#include "lang/diagnostic_kinds.h"
#include "lang/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace farfield::lang {
namespace {

// A type other than `unknown` says that everything below fits together: evaluation relies on it.
class Checker {
public:
    Checker(Names& names, Diagnostics& diagnostics) : names_(names), diagnostics_(diagnostics) {}

    Type check(Expr& expr) {
        expr.type = std::visit([&](auto& node) { return type_of_node(node, expr); }, expr.node);
        return expr.type;
    }

private:
    Type type_of_node(IntegerLiteral&, const Expr&) { return Type::integer; }
    Type type_of_node(RealLiteral&, const Expr&) { return Type::real; }
    Type type_of_node(BooleanLiteral&, const Expr&) { return Type::boolean; }
    Type type_of_node(TextLiteral&, const Expr&) { return Type::text; }
    Type type_of_node(Name& node, const Expr& expr) { return names_.name(node, expr.span); }
    Type type_of_node(Access& node, const Expr& expr) { return names_.access(node, expr.span); }

    Type type_of_node(Call& node, const Expr& expr) {
        const auto* info = find_function(node.text);
        if (info == nullptr) {
            if (const auto type = names_.call(node, expr.span)) return *type;
            diagnostics_.report(kinds::unknown_function, node.name_span,
                                fmt::format("there is no function '{}'", node.text),
                                function_advice(node.text));
            return Type::unknown;
        }
        node.function = info->function;
        auto result = Type::integer;
        for (auto& argument : node.arguments)
            result = joined(result, number(*argument, fmt::format("a value of '{}'", node.text)));
        return counted(node, *info, expr) ? result_of(node.function, result) : Type::unknown;
    }

    bool counted(const Call& node, const FunctionInfo& info, const Expr& expr) {
        const auto count = static_cast<int>(node.arguments.size());
        if (count >= info.least && count <= info.most) return true;
        const auto needed = info.most == info.least ? fmt::format("{}", info.least)
                                                    : fmt::format("{} to {}", info.least, info.most);
        diagnostics_.report(kinds::argument_count, expr.span,
                            fmt::format("'{}' is given {} value{}, and takes {}", node.text, count,
                                        count == 1 ? "" : "s", needed),
                            fmt::format("{}: {}", info.name, info.summary));
        return false;
    }

    static Type result_of(Function function, Type argument) {
        const bool keeps_integers =
            function == Function::abs || function == Function::min || function == Function::max;
        return argument == Type::unknown || keeps_integers ? argument : Type::real;
    }

    Type type_of_node(Unary& node, const Expr&) {
        if (node.op == UnaryOp::negate) return number(*node.operand, "what '-' is applied to");
        return boolean_if(truth(*node.operand, "what 'not' is applied to"));
    }

    Type type_of_node(Binary& node, const Expr&) {
        const auto what = fmt::format("what '{}' is applied to", name_of(node.op));
        switch (node.op) {
        case BinaryOp::logical_and:
        case BinaryOp::logical_or: {
            const bool left = truth(*node.left, what);
            const bool right = truth(*node.right, what);
            return boolean_if(left && right);
        }
        case BinaryOp::floor_divide:
        case BinaryOp::remainder: {
            const auto left = whole(*node.left, what);
            const auto right = whole(*node.right, what);
            return left && right ? Type::integer : Type::unknown;
        }
        default:
            break;
        }
        const auto left = number(*node.left, what);
        const auto right = number(*node.right, what);
        const auto type = joined(left, right);
        if (type == Type::unknown || node.op == BinaryOp::add || node.op == BinaryOp::subtract ||
            node.op == BinaryOp::multiply)
            return type;
        // A whole number to a power that is written as a whole number stays one.
        const bool written = std::holds_alternative<IntegerLiteral>(node.right->node);
        return node.op == BinaryOp::power && type == Type::integer && written ? Type::integer : Type::real;
    }

    Type type_of_node(Compare& node, const Expr&) {
        const bool only_equal = std::all_of(node.ops.begin(), node.ops.end(), [](CompareOp op) {
            return op == CompareOp::equal || op == CompareOp::not_equal;
        });
        const auto first = check(*node.operands[0]);
        const bool of_truths = only_equal && first == Type::boolean;
        bool sound = of_truths ||
                     (require_number(first, *node.operands[0], "what is compared") && first != Type::unknown);
        for (std::size_t i = 1; i < node.operands.size(); ++i) {
            const bool one = of_truths ? truth(*node.operands[i], "what is compared with a condition")
                                       : number(*node.operands[i], "what is compared") != Type::unknown;
            sound = sound && one;
        }
        return boolean_if(sound);
    }

    Type type_of_node(Select& node, const Expr&) {
        const bool sound = truth(*node.condition, "a condition");
        const auto yes = check(*node.yes);
        if (yes == Type::boolean) return boolean_if(truth(*node.no, "the other value of 'if'") && sound);
        const bool number_yes = require_number(yes, *node.yes, "a value of 'if'");
        const auto result = joined(yes, number(*node.no, "the other value of 'if'"));
        return sound && number_yes ? result : Type::unknown;
    }

    static Type boolean_if(bool sound) { return sound ? Type::boolean : Type::unknown; }

    static Type joined(Type a, Type b) { return is_number(a) && is_number(b) ? wider(a, b) : Type::unknown; }

    Type number(Expr& expr, std::string_view what) {
        const auto type = check(expr);
        return require_number(type, expr, what) ? type : Type::unknown;
    }
    bool require_number(Type type, const Expr& expr, std::string_view what) {
        return require_type(type, Type::real, expr.span, what, diagnostics_);
    }
    bool whole(Expr& expr, std::string_view what) {
        const auto type = check(expr);
        return require_type(type, Type::integer, expr.span, what, diagnostics_) && type != Type::unknown;
    }
    bool truth(Expr& expr, std::string_view what) {
        const auto type = check(expr);
        return require_type(type, Type::boolean, expr.span, what, diagnostics_) && type != Type::unknown;
    }

    Names& names_;
    Diagnostics& diagnostics_;
};

std::string remedy_for(Type type, Type needed) {
    if (needed == Type::boolean && is_number(type)) return "compare it with something, such as '!= 0'";
    if (type == Type::boolean) return "write: if condition then 1 else 0";
    if (needed == Type::integer && type == Type::real)
        return "'/' gives a real number; '//' divides whole numbers and gives one";
    return {};
}

} // namespace

Type check_types(Expr& expr, Names& names, Diagnostics& diagnostics) {
    return Checker(names, diagnostics).check(expr);
}

bool require_type(Type type, Type needed, Span span, std::string_view what, Diagnostics& diagnostics) {
    if (type == Type::unknown || type == needed || (needed == Type::real && type == Type::integer))
        return true;
    const auto wanted = needed == Type::real ? std::string_view("a number") : name_of(needed);
    diagnostics.report(kinds::type_mismatch, span,
                       fmt::format("{} must be {}, and this is {}", what, wanted, name_of(type)),
                       remedy_for(type, needed));
    return false;
}

} // namespace farfield::lang
