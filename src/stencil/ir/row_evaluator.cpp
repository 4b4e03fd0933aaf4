// Levels, leaves and loads of row evaluation; row_operations.cpp has the arithmetic.
#include "stencil/ir/row_evaluator.h"

#include "stencil/ir/op_info.h"

#include <algorithm>
#include <limits>

namespace farfield::stencil::ir {

BufferView view_of_values(const Program& program, const Buffer& buffer) {
    return {program.grids[static_cast<std::size_t>(buffer.grid)].shape, buffer.axis,
            Precision::double_precision, buffer.boundary, buffer.values.data()};
}

std::int64_t bounded_index(std::int64_t i, std::int64_t n, Boundary boundary) {
    if (i >= 0 && i < n) return i;
    switch (boundary) {
    case Boundary::zero:
        return -1;
    case Boundary::periodic:
        return (i % n + n) % n;
    case Boundary::clamp:
        return i < 0 ? 0 : n - 1;
    case Boundary::mirror:
        return i < 0 ? std::min(-1 - i, n - 1) : std::max(2 * n - 1 - i, std::int64_t{0});
    default:
        return -2;
    }
}

RowEvaluator::RowEvaluator(const Shape& shape, const Code& code, std::span<const BufferView> buffers,
                           std::span<const double> uniforms)
    : shape_(shape), code_(&code), buffers_(buffers), uniforms_(uniforms), slots_(code.nodes.size()) {
    for (auto& slot : slots_) slot.bytes.resize(static_cast<std::size_t>(most) * 8);
    classify();
}

void RowEvaluator::classify() {
    for (std::size_t i = 0; i < code_->nodes.size(); ++i) {
        const auto& node = code_->nodes[i];
        auto level = Varies::never;
        for (int k = 0; k < operands_of(node.op); ++k)
            level = std::max(level, varies_[static_cast<std::size_t>(node.in[static_cast<std::size_t>(k)])]);
        if (node.op == Op::cell) level = node.index == 0 ? Varies::with_cell : Varies::with_row;
        if (node.op == Op::load)
            level = buffers_[static_cast<std::size_t>(node.index)].axis > 0 ? Varies::with_row
                                                                            : Varies::with_cell;
        varies_.push_back(level);
        by_level_[static_cast<std::size_t>(level)].push_back(static_cast<int>(i));
    }
}

void RowEvaluator::compute(std::int64_t row, std::int64_t first, std::int64_t count, double t,
                           std::int64_t step) {
    const bool fresh = !ready_ || t != t_ || step != step_;
    t_ = t;
    step_ = step;
    if (fresh) compute_level(Varies::never, 0, 1);
    ready_ = true;
    if (fresh || row != row_) {
        row_ = row;
        compute_level(Varies::with_row, 0, 1);
    }
    count_ = count;
    compute_level(Varies::with_cell, first, count);
}

void RowEvaluator::compute_level(Varies level, std::int64_t first, std::int64_t count) {
    for (const int node : by_level_[static_cast<std::size_t>(level)]) {
        compute_node(node, first, count);
        if (level != Varies::with_cell) fill(node);
    }
}

// All lanes as the first.
void RowEvaluator::fill(int node) {
    switch (code_->nodes[static_cast<std::size_t>(node)].type) {
    case ValueType::boolean:
        return void(std::fill_n(data<std::uint8_t>(node) + 1, most - 1, *data<std::uint8_t>(node)));
    case ValueType::float32:
        return void(std::fill_n(data<float>(node) + 1, most - 1, *data<float>(node)));
    case ValueType::float64:
        return void(std::fill_n(data<double>(node) + 1, most - 1, *data<double>(node)));
    default:
        return void(std::fill_n(data<std::int64_t>(node) + 1, most - 1, *data<std::int64_t>(node)));
    }
}

void RowEvaluator::compute_node(int index, std::int64_t first, std::int64_t count) {
    const auto& node = code_->nodes[static_cast<std::size_t>(index)];
    if (operands_of(node.op) == 0) return leaf(index, first, count);
    if (node.op == Op::convert) return convert(index, count);
    if (node.type == ValueType::boolean) return to_truth(index, count);
    if (node.type == ValueType::integer) return integer_operation(index, count);
    if (node.type == ValueType::float32) return real_operation<float>(index, count);
    real_operation<double>(index, count);
}

void RowEvaluator::leaf(int index, std::int64_t first, std::int64_t count) {
    const auto& node = code_->nodes[static_cast<std::size_t>(index)];
    const auto set = [&](double value) {
        if (node.type == ValueType::float32)
            std::fill_n(data<float>(index), count, static_cast<float>(value));
        else
            std::fill_n(data<double>(index), count, value);
    };
    switch (node.op) {
    case Op::constant:
        if (node.type == ValueType::integer)
            std::fill_n(data<std::int64_t>(index), count, node.integer);
        else if (node.type == ValueType::boolean)
            std::fill_n(data<std::uint8_t>(index), count, static_cast<std::uint8_t>(node.integer));
        else
            set(node.real);
        return;
    case Op::time:
        return set(t_);
    case Op::step:
        return void(std::fill_n(data<std::int64_t>(index), count, step_));
    case Op::uniform:
        return set(uniforms_[static_cast<std::size_t>(node.index)]);
    case Op::cell: {
        auto* out = data<std::int64_t>(index);
        if (node.index == 1) return void(std::fill_n(out, count, row_ % shape_[1]));
        if (node.index == 2) return void(std::fill_n(out, count, row_ / shape_[1]));
        for (std::int64_t i = 0; i < count; ++i) out[i] = first + i;
        return;
    }
    default:
        return load(index, first, count);
    }
}

void RowEvaluator::load(int index, std::int64_t first, std::int64_t count) {
    const auto& node = code_->nodes[static_cast<std::size_t>(index)];
    if (node.type == ValueType::float32)
        load_as<float>(index, first, count);
    else
        load_as<double>(index, first, count);
}

template <class T>
void RowEvaluator::load_as(int index, std::int64_t first, std::int64_t count) {
    const auto& node = code_->nodes[static_cast<std::size_t>(index)];
    const auto& view = buffers_[static_cast<std::size_t>(node.index)];
    auto* out = data<T>(index);
    const auto* values = static_cast<const T*>(view.values);
    const std::array<std::int64_t, 3> cell{first + node.offsets[0], row_ % shape_[1] + node.offsets[1],
                                           row_ / shape_[1] + node.offsets[2]};
    const auto outside = [](std::int64_t place) {
        return place == -1 ? T(0) : std::numeric_limits<T>::quiet_NaN();
    };
    const auto along_row = [&](const T* row) { // the axis of the row, from cell[0] on
        const auto n = view.shape[0];
        for (std::int64_t i = 0; i < count; ++i) {
            const auto place = bounded_index(cell[0] + i, n, view.boundary[0]);
            out[i] = place < 0 ? outside(place) : row[place];
        }
    };
    if (view.axis == 0) return along_row(values);
    if (view.axis > 0) {
        const auto a = static_cast<std::size_t>(view.axis);
        const auto place = bounded_index(cell[a], view.shape[a], view.boundary[a]);
        return void(std::fill_n(out, count, place < 0 ? outside(place) : values[place]));
    }
    const auto y = bounded_index(cell[1], view.shape[1], view.boundary[1]);
    const auto z = bounded_index(cell[2], view.shape[2], view.boundary[2]);
    if (y == -1 || z == -1) return void(std::fill_n(out, count, T(0)));
    if (y < 0 || z < 0) return void(std::fill_n(out, count, std::numeric_limits<T>::quiet_NaN()));
    const auto* row = values + (z * view.shape[1] + y) * view.shape[0];
    if (cell[0] >= 0 && cell[0] + count <= view.shape[0])
        std::copy_n(row + cell[0], count, out);
    else
        along_row(row);
}

} // namespace farfield::stencil::ir
