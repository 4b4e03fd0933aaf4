// The printer: the levels of expression_parser.h, from loose to tight.
#include "lang/expression_printer.h"

#include <fmt/format.h>

namespace farfield::lang {
namespace {

enum Level { selection, disjunction, conjunction, negation, comparison, sum, product, sign, power, primary };

Level level_of(BinaryOp op) {
    switch (op) {
    case BinaryOp::logical_or:
        return disjunction;
    case BinaryOp::logical_and:
        return conjunction;
    case BinaryOp::add:
    case BinaryOp::subtract:
        return sum;
    case BinaryOp::power:
        return power;
    default:
        return product;
    }
}

Level level_of(const Expr& expr) {
    return std::visit(
        Overloaded{[](const Select&) { return selection; }, [](const Compare&) { return comparison; },
                   [](const Binary& node) { return level_of(node.op); },
                   [](const Unary& node) { return node.op == UnaryOp::negate ? sign : negation; },
                   [](const auto&) { return primary; }},
        expr.node);
}

constexpr Level tighter(Level level) { return static_cast<Level>(level + 1); }

class Printer {
public:
    explicit Printer(Brackets brackets) : brackets_(brackets) {}

    // As an operand where at least `least` is needed.
    void print(const Expr& expr, Level least) {
        const auto level = level_of(expr);
        const bool bracket =
            level < least || (brackets_ == Brackets::all && level < primary && least > selection);
        if (bracket) out += '(';
        std::visit([&](const auto& node) { print_node(node); }, expr.node);
        if (bracket) out += ')';
    }

    std::string out;

private:
    void print_node(const IntegerLiteral& node) { out += fmt::format("{}", node.value); }
    void print_node(const RealLiteral& node) { out += real_text(node.value); }
    void print_node(const BooleanLiteral& node) { out += node.value ? "true" : "false"; }
    void print_node(const TextLiteral& node) {
        const char quote = node.value.find('"') == std::string::npos ? '"' : '\'';
        out += quote + node.value + quote;
    }
    void print_node(const Name& node) { out += node.text; }
    void print_node(const Access& node) {
        out += node.text;
        print_list('[', node.indices, ']');
    }
    void print_node(const Call& node) {
        out += node.text;
        print_list('(', node.arguments, ')');
    }
    void print_node(const Unary& node) {
        out += node.op == UnaryOp::negate ? "-" : "not ";
        print(*node.operand, node.op == UnaryOp::negate ? sign : negation);
    }
    void print_node(const Binary& node) {
        const auto level = level_of(node.op);
        const bool is_power = node.op == BinaryOp::power;
        print(*node.left, is_power ? primary : level);
        out += is_power ? "^" : fmt::format(" {} ", name_of(node.op));
        print(*node.right, is_power ? sign : tighter(level));
    }
    void print_node(const Compare& node) {
        print(*node.operands[0], sum);
        for (std::size_t i = 0; i < node.ops.size(); ++i) {
            out += fmt::format(" {} ", name_of(node.ops[i]));
            print(*node.operands[i + 1], sum);
        }
    }
    void print_node(const Select& node) {
        const auto level = brackets_ == Brackets::all ? disjunction : selection;
        out += "if ";
        print(*node.condition, level);
        out += " then ";
        print(*node.yes, level);
        out += " else ";
        print(*node.no, level);
    }
    void print_list(char open, const std::vector<ExprPtr>& list, char close) {
        out += open;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (i > 0) out += ", ";
            print(*list[i], selection);
        }
        out += close;
    }

    Brackets brackets_;
};

} // namespace

std::string to_text(const Expr& expr, Brackets brackets) {
    Printer printer(brackets);
    printer.print(expr, selection);
    return std::move(printer.out);
}

} // namespace farfield::lang
