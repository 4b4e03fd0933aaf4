// Initial values by rows, on all threads.
#include "stencil/runtime/initial_values.h"

#include "backend/threads/parallel.h"
#include "stencil/ir/row_evaluator.h"

#include <algorithm>

namespace farfield::stencil {
namespace {

// Rows a task, so that making an evaluator costs little and all threads have work.
constexpr std::int64_t rows_a_task = 64;

void stored_values(const ir::Program& program, const ir::Buffer& buffer, const ir::Shape& shape,
                   const RowSink& sink) {
    if (buffer.axis >= 0) return sink(0, 0, buffer.values);
    const auto cells = static_cast<std::size_t>(shape[0]);
    for (std::int64_t row = 0; row < shape[1] * shape[2]; ++row)
        if (ir::holds_row(program, buffer.grid, row))
            sink(row, 0, std::span(buffer.values).subspan(static_cast<std::size_t>(row) * cells, cells));
}

} // namespace

void initial_values(const ir::Program& program, int buffer, const RowSink& sink, int threads) {
    const auto& it = program.buffers[static_cast<std::size_t>(buffer)];
    const auto& shape = program.grids[static_cast<std::size_t>(it.grid)].shape;
    if (it.initial.nodes.empty()) return stored_values(program, it, shape, sink);
    std::vector<ir::BufferView> views;
    for (const auto& other : program.buffers) views.push_back(view_of_values(program, other));
    const auto rows = shape[1] * shape[2];
    const auto tasks = (rows + rows_a_task - 1) / rows_a_task;
    parallel_for(thread_count(threads), tasks, [&](std::int64_t task) {
        ir::RowEvaluator evaluator(shape, it.initial, views);
        for (auto row = task * rows_a_task; row < std::min(rows, (task + 1) * rows_a_task); ++row) {
            if (!ir::holds_row(program, it.grid, row)) continue;
            for (std::int64_t first = 0; first < shape[0]; first += ir::RowEvaluator::most) {
                evaluator.compute(row, first, std::min(ir::RowEvaluator::most, shape[0] - first));
                sink(row, first, evaluator.real64(it.initial.result));
            }
        }
    });
}

} // namespace farfield::stencil
