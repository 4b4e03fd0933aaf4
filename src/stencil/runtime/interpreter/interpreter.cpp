// Kernels cell by cell, as the contract in ir.h reads.
#include "stencil/runtime/interpreter/interpreter.h"

#include "stencil/ir/op_info.h"
#include "stencil/runtime/initial_values.h"
#include "stencil/runtime/interpreter/reduce.h"

#include <algorithm>
#include <utility>

namespace farfield::stencil {
namespace {

/// Calls visit(row, first, count, place of the first cell in the grid) for pieces of rows that cover a set.
template <class Visit>
void for_each_piece(const ir::CellSet& cells, Visit&& visit) {
    for (std::int64_t row = 0; row < cells.rows(); ++row)
        for (const auto& interval : cells.row(row))
            for (auto first = interval.first; first < interval.last; first += ir::RowEvaluator::most)
                visit(row, first, std::min(ir::RowEvaluator::most, interval.last - first),
                      static_cast<std::size_t>(row * cells.shape()[0] + first));
}

double value_of(const ir::RowEvaluator& evaluator, const ir::Code& code, int node, std::size_t i) {
    const bool single = code.nodes[static_cast<std::size_t>(node)].type == ir::ValueType::float32;
    return single ? static_cast<double>(evaluator.real32(node)[i]) : evaluator.real64(node)[i];
}

/// Calls visit(place in the grid, whether the set has it) for the cells of the set's box, as for_each_piece
/// goes over them.
template <class Visit>
void for_each_cell_of_box(const ir::CellSet& cells, const ir::CellSet& box, Visit&& visit) {
    for_each_piece(box, [&](std::int64_t row, std::int64_t first, std::int64_t count, std::size_t place) {
        const auto y = row % cells.shape()[1];
        const auto z = row / cells.shape()[1];
        for (auto x = first; x < first + count; ++x) visit(place++, cells.contains({x, y, z}));
    });
}

/// m·value + (1 − m)·old, each operation rounded to T.
template <class T>
double multiplied(T m, double value, double old) {
    const T taken = m * static_cast<T>(value);
    const T left = (T(1) - m) * static_cast<T>(old);
    return static_cast<double>(taken + left);
}

} // namespace

Interpreter::Interpreter(std::shared_ptr<const ir::Program> program, const ExecutorOptions& options)
    : Executor(std::move(program)), mask_(options.mask), states_(program_->buffers.size()),
      uniforms_(*program_), uniform_values_(uniforms_.at(0)) {
    for (const auto& buffer : program_->buffers) {
        views_.push_back(ir::view_of_values(*program_, buffer));
        views_.back().precision = buffer.precision;
        fill(static_cast<int>(views_.size()) - 1, options.threads);
    }
    for (const auto& kernel : program_->kernels)
        kernels_.emplace_back(kernel.cells->shape(), kernel.code, views_, uniform_values_);
    for (const auto& record : program_->records)
        records_.emplace_back(record.cells->shape(), record.code, views_, uniform_values_);
    preparation_.description = "interpreter";
}

void Interpreter::fill(int buffer, int threads) {
    const auto b = static_cast<std::size_t>(buffer);
    const auto& it = program_->buffers[b];
    const auto& shape = views_[b].shape;
    const auto cells =
        it.axis >= 0 ? shape[static_cast<std::size_t>(it.axis)] : shape[0] * shape[1] * shape[2];
    auto& copy = states_[b].copies[0];
    if (it.precision == Precision::single_precision)
        copy.singles.resize(static_cast<std::size_t>(cells));
    else
        copy.doubles.resize(static_cast<std::size_t>(cells));
    initial_values(
        *program_, buffer,
        [&](std::int64_t row, std::int64_t first, std::span<const double> values) {
            auto place = static_cast<std::size_t>(row * shape[0] + first);
            for (const double value : values) copy.set(place++, value);
        },
        threads);
    if (it.copies > 1) states_[b].copies[1] = copy;
    show_current(buffer);
}

void Interpreter::show_current(int buffer) {
    const auto b = static_cast<std::size_t>(buffer);
    views_[b].values = states_[b].here().data();
}

void Interpreter::advance(std::int64_t count) {
    for (; count > 0; --count) {
        uniform_values_ = uniforms_.at(step_);
        const double t = static_cast<double>(step_) * program_->dt;
        for (std::size_t i = 0; i < kernels_.size(); ++i)
            if (step_ % program_->kernels[i].every == 0) run(program_->kernels[i], kernels_[i], t);
        for (std::size_t i = 0; i < records_.size(); ++i)
            if ((step_ + 1) % program_->records[i].every == 0) record(i, t);
        ++step_;
    }
}

bool Interpreter::multiplies(const ir::Kernel& kernel) const {
    return mask_ == Mask::multiply && !kernel.cells->is_box() && !ir::reads_neighbours_in_place(kernel);
}

void Interpreter::run(const ir::Kernel& kernel, ir::RowEvaluator& evaluator, double t) {
    const bool multiply = multiplies(kernel);
    const auto visited =
        multiply ? ir::CellSet(kernel.cells->shape(), kernel.cells->bounds()) : *kernel.cells;
    std::vector<std::vector<double>> results(kernel.stores.size());
    evaluator.reset();
    for_each_piece(visited, [&](std::int64_t row, std::int64_t first, std::int64_t count, std::size_t) {
        evaluator.compute(row, first, count, t, step_);
        for (std::size_t s = 0; s < results.size(); ++s)
            for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
                results[s].push_back(value_of(evaluator, kernel.code, kernel.stores[s].node, i));
    });
    for (std::size_t s = 0; s < results.size(); ++s) {
        auto& state = states_[static_cast<std::size_t>(kernel.stores[s].buffer)];
        auto& copy = kernel.stores[s].other_copy ? state.other() : state.here();
        std::size_t next = 0;
        if (multiply) {
            const auto& old = state.here();
            for_each_cell_of_box(*kernel.cells, visited, [&](std::size_t place, bool here) {
                const double value = results[s][next++];
                const double m = here ? 1 : 0;
                copy.set(place, old.singles.empty()
                                    ? multiplied<double>(m, value, old.at(place))
                                    : multiplied<float>(static_cast<float>(m), value, old.at(place)));
            });
            continue;
        }
        for_each_piece(visited, [&](std::int64_t, std::int64_t, std::int64_t cells, std::size_t place) {
            for (std::int64_t i = 0; i < cells; ++i) copy.set(place++, results[s][next++]);
        });
    }
    for (const auto& one : kernel.carries) carry(one);
    for (const auto& store : kernel.stores) {
        if (!store.other_copy) continue;
        auto& state = states_[static_cast<std::size_t>(store.buffer)];
        state.current = 1 - state.current;
        show_current(store.buffer);
    }
}

void Interpreter::carry(const ir::Carry& carry) {
    auto& state = states_[static_cast<std::size_t>(carry.buffer)];
    for_each_piece(*carry.cells, [&](std::int64_t, std::int64_t, std::int64_t count, std::size_t place) {
        for (std::int64_t i = 0; i < count; ++i, ++place) state.other().set(place, state.here().at(place));
    });
}

void Interpreter::record(std::size_t index, double t) {
    const auto& record = program_->records[index];
    auto& evaluator = records_[index];
    evaluator.reset();
    std::vector<double> rows;
    Reducer reducer(record, record_sink_ ? &rows : nullptr);
    for (std::int64_t row = 0; row < record.cells->rows(); ++row) {
        reducer.begin_row();
        for (const auto& interval : record.cells->row(row))
            for (auto first = interval.first; first < interval.last; first += ir::RowEvaluator::most) {
                const auto count = std::min(ir::RowEvaluator::most, interval.last - first);
                evaluator.compute(row, first, count, t, step_);
                for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
                    reducer.add(first + static_cast<std::int64_t>(i),
                                value_of(evaluator, record.code, record.code.result, i));
            }
        reducer.end_row();
    }
    if (record_sink_)
        record_sink_(static_cast<int>(index), static_cast<std::int64_t>(rows.size()) / record.cells->rows(),
                     rows);
    else
        series_[index].push_back(reducer.result());
}

void Interpreter::read(int buffer, std::span<double> values) {
    const auto& copy = states_[static_cast<std::size_t>(buffer)].here();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = copy.at(i);
}

void Interpreter::write(int buffer, std::span<const double> values) {
    auto& state = states_[static_cast<std::size_t>(buffer)];
    for (std::size_t i = 0; i < values.size(); ++i) state.copies[0].set(i, values[i]);
    if (program_->buffers[static_cast<std::size_t>(buffer)].copies > 1) state.copies[1] = state.copies[0];
    state.current = 0;
    show_current(buffer);
}

void Interpreter::read_cells(int buffer, const ir::CellBox& cells, std::span<std::byte> values) {
    auto& copy = states_[static_cast<std::size_t>(buffer)].here();
    const auto size = copy.value_size();
    auto* to = values.data();
    for_each_piece(ir::CellSet(views_[static_cast<std::size_t>(buffer)].shape, cells),
                   [&](std::int64_t, std::int64_t, std::int64_t count, std::size_t place) {
                       const auto bytes = static_cast<std::size_t>(count) * size;
                       std::copy_n(copy.bytes() + place * size, bytes, to);
                       to += bytes;
                   });
}

void Interpreter::write_cells(int buffer, const ir::CellBox& cells, std::span<const std::byte> values,
                              bool all_copies) {
    auto& state = states_[static_cast<std::size_t>(buffer)];
    const int copies = program_->buffers[static_cast<std::size_t>(buffer)].copies;
    for (int c = 0; c < copies; ++c) {
        if (!all_copies && c != state.current) continue;
        auto& copy = state.copies[c];
        const auto size = copy.value_size();
        const auto* from = values.data();
        for_each_piece(ir::CellSet(views_[static_cast<std::size_t>(buffer)].shape, cells),
                       [&](std::int64_t, std::int64_t, std::int64_t count, std::size_t place) {
                           const auto bytes = static_cast<std::size_t>(count) * size;
                           std::copy_n(from, bytes, copy.bytes() + place * size);
                           from += bytes;
                       });
    }
}

} // namespace farfield::stencil
