// Constants and identities. Each rule gives the bits of the operation it replaces, for zeros of both signs,
// infinities and subnormal numbers too.
#include "stencil/ir/row_evaluator.h"
#include "stencil/passes/passes.h"
#include "stencil/passes/rewrite.h"
#include "stencil/passes/texts.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace farfield::stencil {
namespace {

using ir::Node;
using ir::Op;
using ir::ValueType;

class Folder {
public:
    explicit Folder(std::vector<Node>& nodes) : nodes_(nodes) {}

    /// Operand `in` where the node is the same value; nothing where it stays, perhaps changed.
    std::optional<int> simplify(Node& node) {
        if (all_constant(node)) return fold_constants(node), std::nullopt;
        switch (node.op) {
        case Op::select:
            return choice(node);
        case Op::logical_and:
        case Op::logical_or:
            return connective(node);
        case Op::convert:
            return conversion(node);
        case Op::negate:
        case Op::logical_not:
            if (at(node.in[0]).op == node.op) return at(node.in[0]).in[0];
            return std::nullopt;
        case Op::fma:
            return fma(node);
        default:
            return node.type == ValueType::integer ? whole(node) : real(node);
        }
    }

private:
    const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
    bool constant(int node) const { return at(node).op == Op::constant; }
    bool is(int node, double value) const {
        const auto& it = at(node);
        return it.op == Op::constant && ir::is_real(it.type) && it.real == value &&
               std::signbit(it.real) == std::signbit(value);
    }
    bool is_whole(int node, std::int64_t value) const {
        return constant(node) && at(node).type == ValueType::integer && at(node).integer == value;
    }

    bool all_constant(const Node& node) const {
        bool all = ir::operands_of(node.op) > 0;
        for_each_operand(node, [&](int o) { all = all && constant(o); });
        return all;
    }

    void fold_constants(Node& node) const {
        std::vector<Node> operands;
        for_each_operand(node, [&](int o) { operands.push_back(at(o)); });
        const auto value = ir::evaluate_constant(node, operands);
        if (ir::is_real(value.type) && std::isnan(value.real)) return;
        auto text = std::move(node.text);
        node = value;
        node.text = std::move(text);
    }

    std::optional<int> choice(const Node& node) const {
        if (constant(node.in[0])) return at(node.in[0]).integer != 0 ? node.in[1] : node.in[2];
        if (node.in[1] == node.in[2]) return node.in[1];
        return std::nullopt;
    }

    std::optional<int> connective(const Node& node) const {
        for (const int side : {0, 1}) {
            const int one = node.in[static_cast<std::size_t>(side)];
            const int other = node.in[static_cast<std::size_t>(1 - side)];
            if (!constant(one)) continue;
            const bool neutral = (at(one).integer != 0) == (node.op == Op::logical_and);
            return neutral ? other : one;
        }
        return std::nullopt;
    }

    std::optional<int> conversion(const Node& node) const {
        const auto& inner = at(node.in[0]);
        const bool round_trip = node.type == ValueType::float32 && inner.op == Op::convert &&
                                inner.type == ValueType::float64 &&
                                at(inner.in[0]).type == ValueType::float32;
        return round_trip ? std::optional(inner.in[0]) : std::nullopt;
    }

    // 1·b + c and −1·b + c are rounded once like the sum and the difference.
    std::optional<int> fma(Node& node) const {
        for (const std::size_t side : {0, 1}) {
            const int factor = node.in[side];
            const int other = node.in[1 - side];
            if (is(factor, 1)) {
                node.op = Op::add;
                node.in = {other, node.in[2], -1};
                return std::nullopt;
            }
            if (is(factor, -1)) {
                node.op = Op::subtract;
                node.in = {node.in[2], other, -1};
                return std::nullopt;
            }
        }
        return std::nullopt;
    }

    static std::optional<int> negated(Node& node, int operand) {
        node.op = Op::negate;
        node.in = {operand, -1, -1};
        return std::nullopt;
    }

    std::optional<int> real(Node& node) {
        const auto [a, b, c] = node.in;
        switch (node.op) {
        case Op::multiply:
            if (is(a, 1)) return b;
            if (is(b, 1)) return a;
            if (is(a, -1)) return negated(node, b);
            if (is(b, -1)) return negated(node, a);
            return std::nullopt;
        case Op::add: // x + 0 is not x for x = −0
            if (is(a, -0.0)) return b;
            if (is(b, -0.0)) return a;
            return std::nullopt;
        case Op::subtract:
            if (is(b, 0.0)) return a;
            if (is(a, -0.0)) return negated(node, b);
            return std::nullopt;
        case Op::divide:
            if (is(b, 1)) return a;
            return std::nullopt;
        default:
            return std::nullopt;
        }
    }

    std::optional<int> whole(const Node& node) const {
        const auto [a, b, c] = node.in;
        switch (node.op) {
        case Op::multiply:
            if (is_whole(a, 1)) return b;
            if (is_whole(b, 1)) return a;
            return std::nullopt;
        case Op::add:
            if (is_whole(a, 0)) return b;
            if (is_whole(b, 0)) return a;
            return std::nullopt;
        case Op::subtract:
            if (is_whole(b, 0)) return a;
            return std::nullopt;
        case Op::floor_divide:
            if (is_whole(b, 1)) return a;
            return std::nullopt;
        default:
            return std::nullopt;
        }
    }

    std::vector<Node>& nodes_;
};

// 1/c where it is exact and normal, so that x·(1/c) and x/c round the same number.
std::optional<double> exact_reciprocal(const Node& divisor) {
    if (divisor.op != Op::constant || !ir::is_real(divisor.type)) return std::nullopt;
    int exponent = 0;
    if (std::fabs(std::frexp(divisor.real, &exponent)) != 0.5) return std::nullopt;
    const int largest = divisor.type == ValueType::float32 ? 120 : 1000;
    return std::abs(exponent) < largest ? std::optional(1 / divisor.real) : std::nullopt;
}

// Results go to new nodes: products by reciprocals need a constant more.
void fold_code(const RootedCode& rooted) {
    std::vector<Node> out;
    std::vector<int> place;
    Folder folder(out);
    Texts texts(out);
    for (auto node : rooted.code->nodes) {
        for_each_operand(node, [&](int& o) { o = place[static_cast<std::size_t>(o)]; });
        if (node.text == nullptr) node.text = texts.of(node);
        if (const auto same = folder.simplify(node)) {
            place.push_back(*same);
            continue;
        }
        if (node.op == Op::divide)
            if (const auto reciprocal = exact_reciprocal(out[static_cast<std::size_t>(node.in[1])])) {
                auto factor = ir::real_constant(*reciprocal, node.type);
                factor.text = texts.of_reciprocal(node.in[1]);
                node.op = Op::multiply;
                node.in[1] = static_cast<int>(out.size());
                out.push_back(factor);
            }
        place.push_back(static_cast<int>(out.size()));
        out.push_back(node);
    }
    rooted.code->nodes = std::move(out);
    for (int* root : rooted.roots) *root = place[static_cast<std::size_t>(*root)];
}

} // namespace

void fold(ir::Program& program) {
    std::erase_if(program.kernels,
                  [](const ir::Kernel& kernel) { return kernel.cells->empty() || kernel.stores.empty(); });
    for (const auto& code : codes_of_steps(program)) fold_code(code);
    for (const auto& code : other_codes(program)) fold_code(code);
}

} // namespace farfield::stencil
