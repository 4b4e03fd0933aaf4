// Texts of values, from those of their operands.
#include "stencil/passes/texts.h"

#include "lang/types.h"
#include "stencil/ir/op_info.h"
#include "stencil/passes/rewrite.h"

#include <cctype>
#include <string_view>

namespace farfield::stencil {
namespace {

using ir::Node;
using ir::Op;

constexpr std::size_t longest_text = 60;

// How tightly the outermost operator of a text binds.
enum class TextBinding : std::uint8_t { sum, product, tight };

// A sign behind e belongs to a number: 1e-05.
bool is_exponent(std::string_view text, std::size_t sign) {
    return sign > 1 && text[sign - 1] == 'e' &&
           (std::isdigit(static_cast<unsigned char>(text[sign - 2])) != 0 || text[sign - 2] == '.');
}

TextBinding binding(std::string_view text) {
    auto least = TextBinding::tight;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth > 0) continue;
        if ((c == '+' || c == '-') && !is_exponent(text, i)) return TextBinding::sum;
        if (c == '*' || c == '/' || c == '%') least = TextBinding::product;
    }
    return least;
}

std::string within(std::string text, TextBinding wanted) {
    return binding(text) >= wanted ? std::move(text) : "(" + text + ")";
}

std::string combined(Op op, const std::string& a, const std::string& b, const std::string& c) {
    const auto product = [](const std::string& left, std::string_view sign, const std::string& right) {
        return within(left, TextBinding::product).append(sign) + within(right, TextBinding::tight);
    };
    switch (op) {
    case Op::convert:
        return a;
    case Op::negate:
        return "-" + within(a, TextBinding::tight);
    case Op::add:
        return a + " + " + within(b, TextBinding::product);
    case Op::subtract:
        return a + " - " + within(b, TextBinding::product);
    case Op::multiply:
        if (a == b) return within(a, TextBinding::tight) + "^2";
        return product(a, "*", b);
    case Op::divide:
        return product(a, "/", b);
    case Op::floor_divide:
        return product(a, "//", b);
    case Op::remainder:
        return product(a, "%", b);
    case Op::fma:
        return product(a, "*", b) + " + " + within(c, TextBinding::product);
    case Op::abs:
    case Op::min:
    case Op::max:
    case Op::floor:
    case Op::ceil:
    case Op::sqrt:
    case Op::exp:
    case Op::log:
    case Op::sin:
    case Op::cos:
    case Op::tanh:
    case Op::cbrt:
    case Op::pow:
        return std::string(ir::name_of(op)) + "(" + a + (b.empty() ? "" : ", " + b) + ")";
    default:
        return {};
    }
}

std::shared_ptr<const std::string> kept(std::string text) {
    if (text.empty() || text.size() > longest_text) return nullptr;
    return std::make_shared<const std::string>(std::move(text));
}

} // namespace

bool Texts::has_name(int node) const {
    return at(node).text != nullptr || at(node).op == Op::time || at(node).op == Op::step;
}

std::string Texts::text(int node) const {
    const auto& it = at(node);
    if (it.text != nullptr) return *it.text;
    if (it.op == Op::time) return "t";
    if (it.op == Op::step) return "step";
    if (it.op != Op::constant || it.type == ir::ValueType::boolean) return {};
    if (it.type == ir::ValueType::integer) return std::to_string(it.integer);
    auto number = lang::real_text(it.real); // 2.0 was 2, most likely
    return number.ends_with(".0") ? number.substr(0, number.size() - 2) : number;
}

void Texts::follow() {
    for (auto i = varies_.size(); i < nodes_.size(); ++i) {
        bool varies = nodes_[i].op == Op::cell || nodes_[i].op == Op::load;
        for_each_operand(nodes_[i], [&](int o) { varies = varies || varies_[static_cast<std::size_t>(o)]; });
        varies_.push_back(varies);
    }
}

std::shared_ptr<const std::string> Texts::of(const Node& node) {
    follow();
    std::array<std::string, 3> texts;
    std::size_t count = 0;
    bool any_name = false;
    bool all = true;
    for_each_operand(node, [&](int o) {
        if (!all) return;
        texts[count] = varies_[static_cast<std::size_t>(o)] ? std::string() : text(o);
        all = !texts[count].empty();
        any_name = any_name || has_name(o);
        ++count;
    });
    if (!all || !any_name) return nullptr;
    return kept(combined(node.op, texts[0], texts[1], texts[2]));
}

std::shared_ptr<const std::string> Texts::of_reciprocal(int node) const {
    return has_name(node) ? kept("1/" + within(text(node), TextBinding::tight)) : nullptr;
}

} // namespace farfield::stencil
