// The table of operations; what kernels read and write.
#include "stencil/ir/op_info.h"

#include <algorithm>
#include <array>

namespace farfield::stencil::ir {
namespace {

struct Row {
    Op op;
    std::string_view name;
    int operands;
};

constexpr std::array rows{Row{Op::constant, "constant", 0},
                          Row{Op::time, "time", 0},
                          Row{Op::step, "step", 0},
                          Row{Op::uniform, "uniform", 0},
                          Row{Op::cell, "cell", 0},
                          Row{Op::load, "load", 0},
                          Row{Op::convert, "convert", 1},
                          Row{Op::negate, "negate", 1},
                          Row{Op::add, "add", 2},
                          Row{Op::subtract, "subtract", 2},
                          Row{Op::multiply, "multiply", 2},
                          Row{Op::divide, "divide", 2},
                          Row{Op::fma, "fma", 3},
                          Row{Op::floor_divide, "floor_divide", 2},
                          Row{Op::remainder, "remainder", 2},
                          Row{Op::abs, "abs", 1},
                          Row{Op::min, "min", 2},
                          Row{Op::max, "max", 2},
                          Row{Op::floor, "floor", 1},
                          Row{Op::ceil, "ceil", 1},
                          Row{Op::sqrt, "sqrt", 1},
                          Row{Op::exp, "exp", 1},
                          Row{Op::log, "log", 1},
                          Row{Op::sin, "sin", 1},
                          Row{Op::cos, "cos", 1},
                          Row{Op::tanh, "tanh", 1},
                          Row{Op::cbrt, "cbrt", 1},
                          Row{Op::pow, "pow", 2},
                          Row{Op::less, "less", 2},
                          Row{Op::less_equal, "less_equal", 2},
                          Row{Op::equal, "equal", 2},
                          Row{Op::not_equal, "not_equal", 2},
                          Row{Op::logical_and, "and", 2},
                          Row{Op::logical_or, "or", 2},
                          Row{Op::logical_not, "not", 1},
                          Row{Op::select, "select", 3}};

constexpr bool in_order() {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (static_cast<std::size_t>(rows[i].op) != i) return false;
    return rows.size() == static_cast<std::size_t>(Op::select) + 1;
}
static_assert(in_order());

} // namespace

std::string_view name_of(Op op) { return rows[static_cast<std::size_t>(op)].name; }

std::string_view name_of(ValueType type) {
    constexpr std::array<std::string_view, 4> names{"bool", "int64", "float32", "float64"};
    return names[static_cast<std::size_t>(type)];
}

int operands_of(Op op) { return rows[static_cast<std::size_t>(op)].operands; }

bool holds_row(const Program& program, int grid, std::int64_t row) {
    if (program.held.empty()) return true;
    const auto rows = program.grids[static_cast<std::size_t>(grid)].shape[1];
    const auto y = row % rows, z = row / rows;
    const auto& boxes = program.held[static_cast<std::size_t>(grid)];
    return std::any_of(boxes.begin(), boxes.end(), [&](const CellBox& box) {
        return y >= box.first[1] && y < box.last[1] && z >= box.first[2] && z < box.last[2];
    });
}

bool reads_neighbours_in_place(const Kernel& kernel) {
    return std::any_of(kernel.stores.begin(), kernel.stores.end(), [&](const Store& store) {
        return !store.other_copy &&
               std::any_of(kernel.code.nodes.begin(), kernel.code.nodes.end(), [&](const Node& node) {
                   return node.op == Op::load && node.index == store.buffer &&
                          node.offsets != std::array<int, 3>{};
               });
    });
}

Node real_constant(double value, ValueType type) {
    Node node{Op::constant, type};
    node.real = type == ValueType::float32 ? static_cast<double>(static_cast<float>(value)) : value;
    return node;
}

Node integer_constant(std::int64_t value) {
    Node node{Op::constant, ValueType::integer};
    node.integer = value;
    return node;
}

Node truth_constant(bool value) {
    Node node{Op::constant, ValueType::boolean};
    node.integer = value ? 1 : 0;
    return node;
}

} // namespace farfield::stencil::ir
