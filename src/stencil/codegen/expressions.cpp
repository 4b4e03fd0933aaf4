// The printer of expressions: which values get a name, and how each operation is written.
#include "stencil/codegen/expressions.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

namespace farfield::stencil::codegen {
namespace {

using ir::Op;
using ir::ValueType;

// How tightly the outermost operator of a text binds.
enum Binding { loosest, comparison, sum, product, unary, tight };

struct Text {
    std::string text;
    Binding binding = tight;
};

constexpr std::size_t longest_expression = 88;

bool is_leaf(Op op) {
    return op == Op::constant || op == Op::time || op == Op::step || op == Op::uniform || op == Op::cell;
}

std::string_view function_name(Op op) {
    switch (op) {
    case Op::exp:
        return "exp";
    case Op::log:
        return "log";
    case Op::sin:
        return "sin";
    case Op::cos:
        return "cos";
    case Op::tanh:
        return "tanh";
    case Op::cbrt:
        return "cbrt";
    case Op::pow:
        return "pow";
    case Op::floor:
        return "floor";
    case Op::ceil:
        return "ceil";
    case Op::sqrt:
        return "sqrt";
    case Op::abs:
        return "fabs";
    case Op::fma:
        return "fma";
    default:
        throw InternalError("no function for this operation of the IR");
    }
}

// What a value is called that the program has no name for.
std::string_view kind_name(Op op) {
    switch (op) {
    case Op::add:
    case Op::fma:
        return "sum";
    case Op::subtract:
        return "difference";
    case Op::multiply:
        return "product";
    case Op::divide:
    case Op::floor_divide:
        return "quotient";
    case Op::remainder:
        return "rest";
    case Op::negate:
        return "negative";
    case Op::convert:
        return "converted";
    case Op::min:
        return "least";
    case Op::max:
        return "most";
    case Op::select:
        return "choice";
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_not:
        return "test";
    default:
        return function_name(op);
    }
}

class Printer {
public:
    Printer(const ir::Code& code, const Spelling& spelling)
        : code_(code), spelling_(spelling), names_(spelling.names()), uses_(code.nodes.size(), 0),
          comes_from_fma_(code.nodes.size(), false), texts_(code.nodes.size()) {}

    PrintedCode print(std::span<const Root> roots) {
        for (const auto& root : roots) count(root.node);
        std::vector<std::string> names(code_.nodes.size());
        for (const auto& root : roots) {
            if (root.name.empty()) continue;
            names[root.node] = root.name;
            (void)names_.unique(root.name);
        }
        for (std::size_t i = 0; i < code_.nodes.size(); ++i) {
            if (uses_[i] == 0) continue;
            comes_from_fma_[i] = comes_from_fma(code_.nodes[i]);
            texts_[i] = write(code_.nodes[i]);
            const bool long_text = texts_[i].text.size() > longest_expression;
            if (!names[i].empty())
                declare(i, names[i]);
            else if (!is_leaf(code_.nodes[i].op) && (uses_[i] > 1 || long_text || is_name(code_.nodes[i])))
                declare(i, local_name(code_.nodes[i]));
        }
        for (const auto& root : roots) printed_.values.push_back(texts_[root.node].text);
        return std::move(printed_);
    }

private:
    // Counts the uses of a node; those of its operands once. Operands come before their node, so a stack of
    // the nodes met is enough even for long chains.
    void count(int root) {
        std::vector<int> open{root};
        while (!open.empty()) {
            const int node = open.back();
            open.pop_back();
            if (uses_[node]++ > 0) continue;
            for (const int in : code_.nodes[node].in)
                if (in >= 0) open.push_back(in);
        }
    }

    // Whether a compiler can move the negation of a node onto an fma (see `negated`).
    bool comes_from_fma(const ir::Node& node) const {
        switch (node.op) {
        case Op::fma:
            return true;
        case Op::convert:
        case Op::negate:
            return comes_from_fma_[node.in[0]];
        case Op::min:
        case Op::max:
        case Op::multiply:
        case Op::divide:
            return comes_from_fma_[node.in[0]] || comes_from_fma_[node.in[1]];
        case Op::select:
            return comes_from_fma_[node.in[1]] || comes_from_fma_[node.in[2]];
        default:
            return false;
        }
    }

    // Whether the source has a name for it, not merely an expression.
    static bool is_name(const ir::Node& node) {
        return node.text != nullptr && std::all_of(node.text->begin(), node.text->end(), [](unsigned char c) {
                   return std::isalnum(c) != 0 || c == '_';
               });
    }

    std::string local_name(const ir::Node& node) {
        if (node.op == Op::load) return names_.unique(spelling_.value_name(node));
        if (is_name(node)) return names_.unique(spelling_.local_name(*node.text));
        const auto kind = kind_name(node.op);
        return names_.unique(fmt::format("{}_{}", kind, ++numbers_[kind]));
    }

    void declare(std::size_t node, const std::string& name) {
        printed_.lines.push_back(
            fmt::format("const {} {} = {};", type_name(code_.nodes[node].type), name, texts_[node].text));
        texts_[node] = {name, tight};
    }

    // An operand in a place that asks for operators binding at least as tightly as `wanted`.
    std::string operand(int node, Binding wanted) const {
        const auto& text = texts_[node];
        return text.binding >= wanted ? text.text : fmt::format("({})", text.text);
    }
    std::string argument(int node) const { return texts_[node].text; }

    Text infix(const ir::Node& n, std::string_view sign, Binding binding) const {
        // The right operand must bind more tightly: a - (b + c), and also a + (b + c), is not a + b + c.
        return {fmt::format("{} {} {}", operand(n.in[0], binding), sign,
                            operand(n.in[1], static_cast<Binding>(binding + 1))),
                binding};
    }
    Text compare(const ir::Node& n, std::string_view sign) const {
        return {fmt::format("{} {} {}", operand(n.in[0], sum), sign, operand(n.in[1], sum)), comparison};
    }
    // Between truth values: both sides are computed, which keeps loops free of branches.
    Text logic(const ir::Node& n, char sign) const {
        return {fmt::format("{} {} {}", operand(n.in[0], tight), sign, operand(n.in[1], tight)), loosest};
    }
    Text helper(const ir::Node& n, std::string_view name) {
        printed_.needs.operations = true;
        const auto second = n.in[1] >= 0 ? fmt::format(", {}", argument(n.in[1])) : std::string();
        return {fmt::format("{}({}{})", name, argument(n.in[0]), second)};
    }
    Text generic_helper(const ir::Node& n, std::string_view name) {
        return helper(n, fmt::format("{}<{}>", name, type_name(n.type)));
    }
    Text intrinsic(const ir::Node& n) const {
        auto text = fmt::format("{}{}{}({}", spelling_.intrinsic_prefix(), function_name(n.op),
                                n.type == ValueType::float32 ? "f" : "", argument(n.in[0]));
        for (int i = 1; i < 3; ++i)
            if (n.in[i] >= 0) text += fmt::format(", {}", argument(n.in[i]));
        return {text + ')'};
    }
    Text portable(const ir::Node& n) {
        printed_.needs.portable = true;
        // The type is given because a literal argument may have another one.
        const auto second = n.in[1] >= 0 ? fmt::format(", {}", argument(n.in[1])) : std::string();
        return {fmt::format("farfield::portable::{}<{}>({}{})", function_name(n.op), type_name(n.type),
                            argument(n.in[0]), second)};
    }
    Text convert_to(ValueType type, const std::string& text) const {
        return {fmt::format("static_cast<{}>({})", type_name(type), text)};
    }
    Text load(const ir::Node& n) const {
        const auto text = spelling_.load(n);
        const bool is_float = spelling_.precision_of(n.index) == Precision::single_precision;
        const auto type = is_float ? ValueType::float32 : ValueType::float64;
        return type == n.type ? Text{text} : convert_to(n.type, text);
    }

    Text leaf(const ir::Node& n) const {
        switch (n.op) {
        case Op::constant:
            return constant(n);
        case Op::time:
            return {spelling_.time()};
        case Op::step:
            return {spelling_.step()};
        case Op::cell:
            return {spelling_.cell(n.index)};
        default:
            return n.type == ValueType::float32 ? convert_to(n.type, spelling_.uniform(n.index))
                                                : Text{spelling_.uniform(n.index)};
        }
    }
    Text constant(const ir::Node& n) const {
        if (n.index >= 0)
            if (auto name = spelling_.constant(n.index); !name.empty()) return {std::move(name)};
        if (n.type == ValueType::boolean) return {n.integer != 0 ? "true" : "false"};
        if (n.type != ValueType::integer) {
            auto text = print_number(n.real, n.type, spelling_);
            return {text, text[0] == '-' ? unary : tight};
        }
        auto text = whole_number(n.integer);
        return {text, text[0] == '-' ? unary : tight};
    }

    Text arithmetic(const ir::Node& n) {
        const bool whole = n.type == ValueType::integer;
        switch (n.op) {
        case Op::negate:
            if (whole) return helper(n, "wrapping_negate");
            if (comes_from_fma_[n.in[0]]) return helper(n, "negated");
            return {fmt::format("-{}", operand(n.in[0], tight)), unary};
        case Op::add:
            return whole ? helper(n, "wrapping_add") : infix(n, "+", sum);
        case Op::subtract:
            return whole ? helper(n, "wrapping_subtract") : infix(n, "-", sum);
        case Op::multiply:
            return whole ? helper(n, "wrapping_multiply") : infix(n, "*", product);
        case Op::divide:
            return infix(n, "/", product);
        case Op::floor_divide:
            return helper(n, "floor_divide");
        case Op::remainder:
            return helper(n, "floor_remainder");
        case Op::abs:
            return whole ? helper(n, "wrapping_abs") : intrinsic(n);
        case Op::min:
            return generic_helper(n, "minimum");
        case Op::max:
            return generic_helper(n, "maximum");
        default:
            throw InternalError("unknown arithmetic operation of the IR");
        }
    }

    Text write(const ir::Node& n) {
        if (is_leaf(n.op)) return leaf(n);
        switch (n.op) {
        case Op::load:
            return load(n);
        case Op::convert:
            return convert_to(n.type, argument(n.in[0]));
        case Op::fma:
        case Op::floor:
        case Op::ceil:
        case Op::sqrt:
            return intrinsic(n);
        case Op::exp:
        case Op::log:
        case Op::sin:
        case Op::cos:
        case Op::tanh:
        case Op::cbrt:
        case Op::pow:
            return portable(n);
        case Op::less:
            return compare(n, "<");
        case Op::less_equal:
            return compare(n, "<=");
        case Op::equal:
            return compare(n, "==");
        case Op::not_equal:
            return compare(n, "!=");
        case Op::logical_and:
            return logic(n, '&');
        case Op::logical_or:
            return logic(n, '|');
        case Op::logical_not:
            return {fmt::format("!{}", operand(n.in[0], tight)), unary};
        case Op::select:
            return {fmt::format("{} ? {} : {}", operand(n.in[0], tight), operand(n.in[1], tight),
                                operand(n.in[2], tight)),
                    loosest};
        default:
            return arithmetic(n);
        }
    }

    const ir::Code& code_;
    const Spelling& spelling_;
    UniqueNames names_;
    std::map<std::string_view, int> numbers_; // of each kind of value, the last one given
    std::vector<int> uses_;
    std::vector<bool> comes_from_fma_;
    std::vector<Text> texts_;
    PrintedCode printed_;
};

} // namespace

Needs& Needs::operator|=(const Needs& other) {
    portable |= other.portable;
    operations |= other.operations;
    return *this;
}

std::string_view type_name(ValueType type) {
    switch (type) {
    case ValueType::boolean:
        return "bool";
    case ValueType::integer:
        return "long long";
    case ValueType::float32:
        return "float";
    default:
        return "double";
    }
}

std::string_view type_name(Precision precision) {
    return precision == Precision::single_precision ? "float" : "double";
}

std::string print_number(double value, ValueType type, const Spelling& spelling) {
    const bool single = type == ValueType::float32;
    if (single) value = static_cast<double>(static_cast<float>(value));
    if (std::isnan(value))
        return single ? fmt::format("static_cast<float>({})", spelling.not_a_number())
                      : std::string(spelling.not_a_number());
    if (std::isinf(value))
        return fmt::format("{}{}", value < 0 ? "-" : "",
                           single ? fmt::format("static_cast<float>({})", spelling.infinity())
                                  : std::string(spelling.infinity()));
    return finite_number(value, type);
}

std::string whole_number(std::int64_t value) {
    if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807 - 1)";
    return fmt::format("{}", value);
}

std::string finite_number(double value, ValueType type) {
    const bool single = type == ValueType::float32;
    auto text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return single ? text + "f" : text;
}

std::string value_name(const ir::Buffer& buffer, const ir::Node& load, const ir::Grid& grid) {
    std::string name = buffer.name;
    for (std::size_t a = 0; a < 3; ++a)
        if (const int offset = load.offsets[a]; offset != 0)
            name += fmt::format("_{}{}{}", grid.axes[a], offset < 0 ? 'm' : 'p', std::abs(offset));
    return load.offsets == std::array<int, 3>{} ? name + "_c" : name;
}

PrintedCode print_code(const ir::Code& code, std::span<const Root> roots, const Spelling& spelling) {
    return Printer(code, spelling).print(roots);
}

} // namespace farfield::stencil::codegen
