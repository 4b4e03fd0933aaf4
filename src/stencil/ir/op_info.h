// What is known of each operation: its name, its operands; and of kernels.
#pragma once

#include "stencil/ir/ir.h"

#include <string_view>

namespace farfield::stencil::ir {

/// "add", "floor_divide".
std::string_view name_of(Op op);
/// "bool", "int64", "float32", "float64".
std::string_view name_of(ValueType type);

/// How many of Node::in it uses.
int operands_of(Op op);

constexpr bool is_real(ValueType type) { return type == ValueType::float32 || type == ValueType::float64; }

/// Of a buffer's values.
constexpr ValueType type_of(Precision precision) {
    return precision == Precision::single_precision ? ValueType::float32 : ValueType::float64;
}

/// Whether it writes a buffer in place and reads neighbours there. The cells that it reads are then none that
/// it writes (the analysis proves it), so that its cells may come in any order, and may be stored again.
bool reads_neighbours_in_place(const Kernel& kernel);

Node real_constant(double value, ValueType type = ValueType::float64);
Node integer_constant(std::int64_t value);
Node truth_constant(bool value);

} // namespace farfield::stencil::ir
