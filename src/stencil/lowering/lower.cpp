// Grids, buffers and the order of kernels; lower_actions.cpp has their code.
#include "stencil/lowering/lower.h"

#include "lang/diagnostic_kinds.h"
#include "stencil/ir/row_evaluator.h"
#include "stencil/lowering/conditions.h"
#include "stencil/lowering/lower_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace farfield::stencil {
namespace {

// Of a step, so that no program takes forever to compile: a thousand times what physics needs.
constexpr std::size_t most_step_entries = 1000;
constexpr std::size_t most_nodes = 1'000'000;

ir::Buffer lower_field(const Model& model, const BufferNumbers& numbers, const Field& field) {
    ir::Buffer out;
    out.name = field.name;
    out.grid = field.grid;
    out.precision = field.precision;
    out.stagger = field.stagger;
    out.boundary = field.boundary;
    out.initial = lower_value(model, numbers, field.initial, field.grid);
    return out;
}

// One value an index, computed here: there are few.
ir::Buffer lower_array(const Model& model, const BufferNumbers& numbers, const Array& array,
                       std::span<const ir::BufferView> views) {
    ir::Buffer out;
    out.name = array.name;
    out.kind = ir::BufferKind::array;
    out.grid = array.grid;
    out.axis = array.axis;
    out.precision = array.precision;
    out.stagger[static_cast<std::size_t>(array.axis)] = array.stagger;
    const auto code = lower_value(model, numbers, array.value, array.grid, array.axis);
    const auto shape = lower_grid(model.grids[static_cast<std::size_t>(array.grid)]).shape;
    ir::RowEvaluator evaluator(shape, code, views);
    const auto cells = shape[static_cast<std::size_t>(array.axis)];
    for (std::int64_t i = 0; i < cells;) {
        const bool in_row = array.axis == 0;
        const auto count = in_row ? std::min(cells - i, ir::RowEvaluator::most) : 1;
        evaluator.compute(in_row ? 0 : array.axis == 1 ? i : i * shape[1], in_row ? i : 0, count);
        const auto values = evaluator.real64(code.result);
        out.values.insert(out.values.end(), values.begin(), values.end());
        i += count;
    }
    return out;
}

ir::Buffer lower_coefficient_buffer(const Model& model, const BufferNumbers& numbers,
                                    const Coefficient& coefficient) {
    ir::Buffer out;
    out.name = coefficient.name;
    out.kind = ir::BufferKind::coefficient;
    out.grid = coefficient.grid;
    out.precision = coefficient.precision;
    out.initial = lower_coefficient(model, numbers, coefficient);
    return out;
}

void lower_buffers(const Model& model, const BufferNumbers& numbers, std::vector<ir::Buffer> files,
                   ir::Program& out) {
    const auto first_file = static_cast<std::size_t>(numbers.data(0));
    std::vector<ir::BufferView> views(first_file);
    for (const auto& file : files) views.push_back(view_of_values(out, file));
    for (const auto& field : model.fields) out.buffers.push_back(lower_field(model, numbers, field));
    for (const auto& array : model.arrays) out.buffers.push_back(lower_array(model, numbers, array, views));
    for (const auto& coefficient : model.coefficients)
        out.buffers.push_back(lower_coefficient_buffer(model, numbers, coefficient));
    std::move(files.begin(), files.end(), std::back_inserter(out.buffers));
}

ir::CellSet united(const ir::CellSet& a, const ir::CellSet& b) {
    return complement(intersection(complement(a), complement(b)));
}

// What other kernels write and a kernel that changes copies does not is carried over. Cells that nothing
// writes are the same in both copies.
void add_carries(ir::Program& program) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        if (program.buffers[b].copies < 2) continue;
        const auto stores_here = [&](const ir::Store& store) { return store.buffer == static_cast<int>(b); };
        ir::CellSet written(program.grids[static_cast<std::size_t>(program.buffers[b].grid)].shape);
        for (const auto& kernel : program.kernels)
            if (std::any_of(kernel.stores.begin(), kernel.stores.end(), stores_here))
                written = united(written, *kernel.cells);
        for (auto& kernel : program.kernels) {
            const auto store = std::find_if(kernel.stores.begin(), kernel.stores.end(), stores_here);
            if (store == kernel.stores.end() || !store->other_copy) continue;
            auto rest = difference(written, *kernel.cells);
            if (rest.empty()) continue;
            kernel.carries.push_back(
                {static_cast<int>(b), std::make_shared<const ir::CellSet>(std::move(rest))});
        }
    }
}

void mark_stores(ir::Program& program) {
    for (const auto& kernel : program.kernels)
        for (const auto& store : kernel.stores) {
            auto& buffer = program.buffers[static_cast<std::size_t>(store.buffer)];
            buffer.written = true;
            if (store.other_copy) buffer.copies = 2;
        }
}

} // namespace

ir::Program lower(const Model& model, Domains& domains, lang::Diagnostics& diagnostics) {
    ir::Program out;
    out.name = model.name;
    out.dt = model.dt;
    const auto too_long = [&](std::optional<Span> span, std::string message) {
        diagnostics.report(lang::kinds::too_long, span, std::move(message),
                           "write fewer or shorter updates, or fewer entries of 'step:'");
    };
    if (model.step.size() > most_step_entries) {
        too_long(std::nullopt,
                 fmt::format("the step has {} entries, more than {}", model.step.size(), most_step_entries));
        return out;
    }
    for (const auto& grid : model.grids) out.grids.push_back(lower_grid(grid));
    const BufferNumbers numbers(model, domains.files);
    lower_buffers(model, numbers, std::exchange(domains.files.buffers, {}), out);
    std::size_t nodes = 0;
    for (const auto& action : model.step) {
        const auto i = static_cast<std::size_t>(action.index);
        auto kernel = action.is_source ? lower_source(model, numbers, model.sources[i])
                                       : lower_update(model, numbers, model.updates[i]);
        kernel.cells = action.is_source ? domains.sources[i] : domains.updates[i];
        kernel.every = action.every;
        nodes += kernel.code.nodes.size() + kernel.predicate.nodes.size();
        if (nodes > most_nodes) {
            too_long(kernel.span, fmt::format("up to here the step has more than {} operations", most_nodes));
            return out;
        }
        out.kernels.push_back(std::move(kernel));
    }
    for (std::size_t i = 0; i < model.records.size(); ++i) {
        out.records.push_back(lower_record(model, numbers, model.records[i]));
        out.records.back().cells = domains.records[i];
    }
    mark_stores(out);
    add_carries(out);
    return out;
}

} // namespace farfield::stencil
