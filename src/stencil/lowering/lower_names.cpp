// What names stand for: coordinates, time, constants, subdomains, and the values of buffers.
#include "stencil/lowering/conditions.h"
#include "stencil/lowering/expression_lowering.h"

#include "stencil/ir/op_info.h"

#include <farfield/error.h>

namespace farfield::stencil {

using ir::Op;
using ir::ValueType;

int ExpressionLowering::lower_node(const lang::Name& node, const lang::Expr&) {
    if (const auto value = constant_value(model_, node)) {
        const int constant = builder_.constant(*value);
        builder_.call(constant, node.text);
        return constant;
    }
    const auto& grid = model_.grids[static_cast<std::size_t>(grid_)];
    switch (kind_of(node.symbol)) {
    case SymbolKind::cell_index:
        return builder_.cell(grid.axis_of(node.symbol.index));
    case SymbolKind::position:
        return position(node);
    case SymbolKind::time:
        return builder_.append({Op::time, ValueType::float64});
    case SymbolKind::step:
        return builder_.append({Op::step, ValueType::integer});
    case SymbolKind::everywhere:
        return builder_.truth(true);
    case SymbolKind::interior:
        return interior_ ? in_box(*interior_) : builder_.truth(true);
    case SymbolKind::temporary:
        return temporaries_.at(node.symbol.index);
    case SymbolKind::subdomain:
        return subdomain(node.symbol.index);
    default:
        return stored(node.symbol, {});
    }
}

int ExpressionLowering::lower_node(const lang::Access& node, const lang::Expr&) {
    return stored(node.symbol, node.offsets);
}

// origin + (index + shift)·spacing in double, each operation rounded; then of the precision at hand.
int ExpressionLowering::position(const lang::Name& node) {
    const auto& grid = model_.grids[static_cast<std::size_t>(grid_)];
    const int axis = grid.axis_of(node.symbol.index);
    const auto& along = grid.axes[static_cast<std::size_t>(axis)];
    int x = builder_.convert(builder_.cell(axis), ValueType::float64);
    const auto then = [&](Op op, double number) {
        const int constant = builder_.real(number);
        if (op == Op::multiply) builder_.call(constant, std::string("d") + "xyz"[node.symbol.index]);
        x = builder_.make(op, ValueType::float64, x, constant);
    };
    if (node.shift != 0) then(Op::add, node.shift);
    if (along.spacing != 1) then(Op::multiply, along.spacing);
    if (along.origin != 0) then(Op::add, along.origin);
    return builder_.convert(x, precision_);
}

int ExpressionLowering::in_box(const ir::CellBox& box) {
    const auto& axes = model_.grids[static_cast<std::size_t>(grid_)].axes;
    int all = -1;
    const auto both = [&](int one) {
        all = all < 0 ? one : builder_.make(Op::logical_and, ValueType::boolean, all, one);
    };
    for (std::size_t a = 0; a < axes.size(); ++a) {
        if (box.first[a] > 0)
            both(builder_.make(Op::less_equal, ValueType::boolean, builder_.integer(box.first[a]),
                               builder_.cell(static_cast<int>(a))));
        if (box.last[a] < axes[a].cells)
            both(builder_.make(Op::less, ValueType::boolean, builder_.cell(static_cast<int>(a)),
                               builder_.integer(box.last[a])));
    }
    return all < 0 ? builder_.truth(true) : all;
}

int ExpressionLowering::data_file(const lang::Call& node) {
    const auto& file = std::get<lang::TextLiteral>(node.arguments[0]->node).value;
    const int buffer = buffers_.data(file, grid_, axis_);
    return builder_.convert(builder_.load(buffer, Precision::double_precision), precision_);
}

int ExpressionLowering::stored(const lang::Symbol& symbol, const std::array<int, 3>& offsets) {
    const auto index = static_cast<std::size_t>(symbol.index);
    if (way_ == Way::values) return named({kind_of(symbol), symbol.index});
    int node = -1;
    switch (kind_of(symbol)) {
    case SymbolKind::field:
        node = builder_.load(buffers_.field(symbol.index), model_.fields[index].precision, offsets);
        break;
    case SymbolKind::array:
        node = builder_.load(buffers_.array(symbol.index), model_.arrays[index].precision, offsets);
        break;
    case SymbolKind::coefficient:
        node =
            builder_.load(buffers_.coefficient(symbol.index), model_.coefficients[index].precision, offsets);
        break;
    default:
        throw InternalError("a name without a value");
    }
    return builder_.convert(node, precision_);
}

// In double and without fma wherever it is mentioned: it is one set of cells.
int ExpressionLowering::subdomain(int index) {
    if (way_ == Way::values) return named({SymbolKind::subdomain, index});
    if (!conditions_)
        conditions_ = std::make_unique<ExpressionLowering>(model_, buffers_, builder_, grid_, Way::values);
    return conditions_->named({SymbolKind::subdomain, index});
}

const lang::Expr* ExpressionLowering::expression_of(Named name) const {
    const auto i = static_cast<std::size_t>(name.second);
    switch (name.first) {
    case SymbolKind::subdomain:
        return model_.subdomains[i].condition;
    case SymbolKind::array:
        return model_.arrays[i].value;
    case SymbolKind::field:
        return model_.fields[i].initial;
    default:
        throw InternalError("a name without a value before the run");
    }
}

std::vector<ExpressionLowering::Named> ExpressionLowering::mentioned(Named name) const {
    std::vector<Named> out;
    if (const auto* expr = expression_of(name))
        lang::for_each_node(*expr, [&](const lang::Expr& node) {
            const auto* inner = std::get_if<lang::Name>(&node.node);
            if (inner == nullptr) return;
            const auto kind = kind_of(inner->symbol);
            if (kind == SymbolKind::subdomain || kind == SymbolKind::array || kind == SymbolKind::field)
                out.emplace_back(kind, inner->symbol.index);
        });
    return out;
}

// What it mentions comes first: with a stack of our own, because chains of declarations have any length.
int ExpressionLowering::named(Named name) {
    std::vector<Named> stack{name};
    while (!known_.contains(name)) {
        const auto top = stack.back();
        for (const auto& other : mentioned(top))
            if (!known_.contains(other)) stack.push_back(other);
        if (stack.back() != top) continue;
        if (!known_.contains(top)) known_[top] = lower_named(top);
        stack.pop_back();
    }
    return known_[name];
}

// The value of an array or read-only field is that in this cell as it will be stored, rounded to its
// precision.
int ExpressionLowering::lower_named(Named name) {
    const auto* value = expression_of(name);
    if (value == nullptr) return builder_.real(0);
    if (name.first == SymbolKind::subdomain) return lower(*value);
    const auto i = static_cast<std::size_t>(name.second);
    const bool array = name.first == SymbolKind::array;
    const auto precision = array ? model_.arrays[i].precision : model_.fields[i].precision;
    int node = -1;
    if (array) {
        ExpressionLowering inner(model_, buffers_, builder_, grid_, Way::values, ValueType::float64,
                                 model_.arrays[i].axis);
        node = inner.real(*value);
    } else {
        node = real(*value);
    }
    return builder_.convert(builder_.convert(node, ir::type_of(precision)), ValueType::float64);
}

} // namespace farfield::stencil
