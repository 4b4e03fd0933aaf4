// Appends nodes to a code, converting where types differ. Values are numbers of nodes.
#pragma once

#include "lang/types.h"
#include "stencil/ir/ir.h"

#include <unordered_map>
#include <vector>

namespace farfield::stencil {

class CodeBuilder {
public:
    ir::Code& code() { return code_; }
    ir::ValueType type(int node) const { return at(node).type; }
    /// Whether it may differ between cells.
    bool varies(int node) const { return varies_[static_cast<std::size_t>(node)]; }

    int append(const ir::Node& node);
    int real(double value, ir::ValueType type = ir::ValueType::float64);
    int integer(std::int64_t value);
    int truth(bool value);
    int constant(const lang::Value& value);
    int cell(int axis);
    /// Says what the source calls a value, unless that is known: leaves other than constants have names.
    void call(int node, const std::string& text);
    int load(int buffer, Precision precision, const std::array<int, 3>& offsets = {});
    /// Operands have the types the operation needs; the result is of type `type`.
    int make(ir::Op op, ir::ValueType type, int a, int b = -1, int c = -1);
    /// The same number in a type; itself where it has that type already. From an integer or a real to a real.
    int convert(int node, ir::ValueType type);
    /// x^n as a chain of products, for |n| ≤ 16; 1/x^|n| for negative n.
    int power(int node, std::int64_t exponent);
    /// The value of a node that depends on nothing but constants; null for others.
    const ir::Node* constant_value(int node) const {
        const auto found = constants_.find(node);
        return found == constants_.end() ? nullptr : &found->second;
    }

private:
    const ir::Node& at(int node) const { return code_.nodes[static_cast<std::size_t>(node)]; }

    ir::Code code_;
    std::vector<bool> varies_;
    std::unordered_map<int, ir::Node> constants_;
};

} // namespace farfield::stencil
