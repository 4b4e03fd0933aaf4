// Nodes of a code.
#include "stencil/lowering/code_builder.h"

#include "stencil/ir/op_info.h"
#include "stencil/ir/row_evaluator.h"

#include <bit>

namespace farfield::stencil {

using ir::Node;
using ir::Op;
using ir::ValueType;

int CodeBuilder::append(const Node& node) {
    const int index = static_cast<int>(code_.nodes.size());
    bool varies = node.op == Op::cell || node.op == Op::load;
    std::vector<Node> operands;
    for (int k = 0; k < ir::operands_of(node.op); ++k) {
        const int operand = node.in[static_cast<std::size_t>(k)];
        varies = varies || this->varies(operand);
        if (const auto* value = constant_value(operand)) operands.push_back(*value);
    }
    if (node.op == Op::constant)
        constants_.emplace(index, node);
    else if (!operands.empty() && static_cast<int>(operands.size()) == ir::operands_of(node.op))
        constants_.emplace(index, ir::evaluate_constant(node, operands));
    code_.nodes.push_back(node);
    varies_.push_back(varies);
    return index;
}

int CodeBuilder::real(double value, ValueType type) { return append(ir::real_constant(value, type)); }
int CodeBuilder::integer(std::int64_t value) { return append(ir::integer_constant(value)); }
int CodeBuilder::truth(bool value) { return append(ir::truth_constant(value)); }

int CodeBuilder::constant(const lang::Value& value) {
    if (const auto* truth_value = std::get_if<bool>(&value)) return truth(*truth_value);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return integer(*whole);
    return real(std::get<double>(value));
}

int CodeBuilder::cell(int axis) {
    Node node{Op::cell, ValueType::integer};
    node.index = axis;
    return append(node);
}

void CodeBuilder::call(int node, const std::string& text) {
    auto& it = code_.nodes[static_cast<std::size_t>(node)];
    const bool can_have = it.op == Op::constant || ir::operands_of(it.op) > 0;
    if (can_have && it.text == nullptr) it.text = std::make_shared<const std::string>(text);
}

int CodeBuilder::load(int buffer, Precision precision, const std::array<int, 3>& offsets) {
    Node node{Op::load, ir::type_of(precision)};
    node.index = buffer;
    node.offsets = offsets;
    return append(node);
}

int CodeBuilder::make(Op op, ValueType type, int a, int b, int c) { return append({op, type, {a, b, c}}); }

int CodeBuilder::convert(int node, ValueType to) {
    return type(node) == to ? node : make(Op::convert, to, node);
}

int CodeBuilder::power(int node, std::int64_t exponent) {
    const auto of = type(node);
    const auto size = static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent);
    const auto one = [&] { return of == ValueType::integer ? integer(1) : real(1, of); };
    if (size == 0) return one();
    int result = node;
    for (int bit = static_cast<int>(std::bit_width(size)) - 2; bit >= 0; --bit) {
        result = make(Op::multiply, of, result, result);
        if (((size >> bit) & 1) != 0) result = make(Op::multiply, of, result, node);
    }
    return exponent < 0 ? make(Op::divide, of, one(), result) : result;
}

} // namespace farfield::stencil
