// Equations as stores. All of an update compute in one precision: double if anything on the grid that they
// read or write is double.
#include "stencil/lowering/lower_actions.h"

#include "stencil/ir/op_info.h"
#include "stencil/lowering/conditions.h"
#include "stencil/lowering/expression_lowering.h"
#include "stencil/reads/accesses.h"

#include <algorithm>

namespace farfield::stencil {
namespace {

Precision precision_of(const Model& model, const CellRead& read) {
    const auto i = static_cast<std::size_t>(read.index);
    if (read.kind == SymbolKind::array) return model.arrays[i].precision;
    if (read.kind == SymbolKind::coefficient) return model.coefficients[i].precision;
    return model.fields[i].precision;
}

bool reads_double(const Model& model, const std::vector<CellRead>& reads) {
    return std::any_of(reads.begin(), reads.end(), [&](const CellRead& read) {
        return precision_of(model, read) == Precision::double_precision;
    });
}

ir::ValueType precision_of(const Model& model, const Update& update) {
    const bool writes_double =
        std::any_of(update.operations.begin(), update.operations.end(), [&](const Operation& operation) {
            return operation.field >= 0 &&
                   model.fields[static_cast<std::size_t>(operation.field)].precision ==
                       Precision::double_precision;
        });
    return writes_double || reads_double(model, reads_of(update)) ? ir::ValueType::float64
                                                                  : ir::ValueType::float32;
}

// The new value of the field, of the update's precision or, where nothing varies, double.
int new_value(const Operation& operation, int old, ExpressionLowering& lowering) {
    switch (operation.op) {
    case AssignOp::add:
        return lowering.sum_with(false, old, *operation.value);
    case AssignOp::subtract:
        return lowering.sum_with(true, old, *operation.value);
    case AssignOp::multiply:
        return lowering.product_with(old, *operation.value);
    default:
        return lowering.real(*operation.value);
    }
}

// Right-hand sides read neighbours of the field, so the new values must not take the old ones' place.
bool needs_other_copy(const Model& model, const Update& update, int field) {
    if (!model.fields[static_cast<std::size_t>(field)].double_buffered) return false;
    const auto reads = reads_of(update);
    return std::any_of(reads.begin(), reads.end(), [&](const CellRead& read) {
        return read.kind == SymbolKind::field && read.index == field && read.of_neighbour();
    });
}

} // namespace

ir::Kernel lower_update(const Model& model, const BufferNumbers& numbers, const Update& update) {
    ir::Kernel out;
    out.name = update.name;
    out.grid = update.grid;
    out.span = update.span;
    out.predicate = lower_condition(model, numbers, update.where, update.grid, access_box(model, update));
    CodeBuilder builder;
    const auto precision = precision_of(model, update);
    ExpressionLowering lowering(model, numbers, builder, update.grid, ExpressionLowering::Way::kernel,
                                precision);
    for (std::size_t i = 0; i < update.operations.size(); ++i) {
        const auto& operation = update.operations[i];
        if (operation.field < 0) {
            const int value = lowering.lower(*operation.value);
            builder.call(value, operation.temporary);
            lowering.set_temporary(static_cast<int>(i), value);
            continue;
        }
        const auto stored = model.fields[static_cast<std::size_t>(operation.field)].precision;
        const int buffer = numbers.field(operation.field);
        const int old =
            operation.op == AssignOp::assign ? -1 : builder.convert(builder.load(buffer, stored), precision);
        const int value = lowering.at_precision(new_value(operation, old, lowering));
        out.stores.push_back({buffer, builder.convert(value, ir::type_of(stored)),
                              needs_other_copy(model, update, operation.field)});
    }
    out.code = std::move(builder.code());
    return out;
}

ir::Kernel lower_source(const Model& model, const BufferNumbers& numbers, const Source& source) {
    auto out = lower_update(model, numbers, source.update);
    if (source.box) out.predicate = lower_box(model, numbers, source.update.grid, *source.box);
    return out;
}

ir::Record lower_record(const Model& model, const BufferNumbers& numbers, const Record& record) {
    ir::Record out;
    out.name = record.name;
    out.grid = record.grid;
    out.reduction = record.reduction;
    out.every = record.every;
    out.predicate =
        record.box ? lower_box(model, numbers, record.grid, *record.box)
                   : lower_condition(model, numbers, record.where, record.grid, access_box(model, record));
    const auto reads = reads_of(*record.value);
    const bool single = !reads.empty() && !reads_double(model, reads);
    CodeBuilder builder;
    ExpressionLowering lowering(model, numbers, builder, record.grid, ExpressionLowering::Way::kernel,
                                single ? ir::ValueType::float32 : ir::ValueType::float64);
    const int result = lowering.at_precision(lowering.lower(*record.value));
    out.code = std::move(builder.code());
    out.code.result = result;
    return out;
}

} // namespace farfield::stencil
