// What is fixed before the run, as code.
#include "stencil/lowering/conditions.h"

#include "stencil/lowering/expression_lowering.h"

namespace farfield::stencil {
namespace {

template <class Lower>
ir::Code finished(const Model& model, const BufferNumbers& buffers, int grid, int axis, Lower&& lower) {
    CodeBuilder builder;
    ExpressionLowering lowering(model, buffers, builder, grid, ExpressionLowering::Way::values,
                                ir::ValueType::float64, axis);
    const int result = lower(lowering, builder);
    builder.code().result = result;
    return std::move(builder.code());
}

} // namespace

ir::Grid lower_grid(const Grid& grid) {
    ir::Grid out;
    out.name = grid.name;
    out.rank = static_cast<int>(grid.axes.size());
    for (std::size_t a = 0; a < grid.axes.size(); ++a) {
        out.axes[a] = "xyz"[static_cast<std::size_t>(grid.axes[a].coordinate)];
        out.shape[a] = grid.axes[a].cells;
        out.origin[a] = grid.axes[a].origin;
        out.spacing[a] = grid.axes[a].spacing;
    }
    return out;
}

ir::Code lower_condition(const Model& model, const BufferNumbers& buffers, const lang::Expr* where, int grid,
                         const ir::CellBox& interior) {
    return finished(model, buffers, grid, -1, [&](ExpressionLowering& lowering, CodeBuilder& builder) {
        lowering.set_interior(interior);
        return where == nullptr ? builder.truth(true) : lowering.lower(*where);
    });
}

ir::Code lower_box(const Model& model, const BufferNumbers& buffers, int grid, const Box& box) {
    return finished(model, buffers, grid, -1, [&](ExpressionLowering& lowering, CodeBuilder&) {
        ir::CellBox cells{box.first, box.last};
        for (auto& last : cells.last) ++last;
        return lowering.in_box(cells);
    });
}

ir::Code lower_value(const Model& model, const BufferNumbers& buffers, const lang::Expr* value, int grid,
                     int axis) {
    return finished(model, buffers, grid, axis, [&](ExpressionLowering& lowering, CodeBuilder& builder) {
        return value == nullptr ? builder.real(0) : lowering.real(*value);
    });
}

ir::Code lower_coefficient(const Model& model, const BufferNumbers& buffers, const Coefficient& coefficient) {
    return finished(
        model, buffers, coefficient.grid, -1, [&](ExpressionLowering& lowering, CodeBuilder& builder) {
            int result = builder.real(0);
            for (auto one = coefficient.cases.rbegin(); one != coefficient.cases.rend(); ++one) {
                const int value = lowering.real(*one->value);
                result = one->where == nullptr ? value
                                               : builder.make(ir::Op::select, ir::ValueType::float64,
                                                              lowering.lower(*one->where), value, result);
            }
            return result;
        });
}

} // namespace farfield::stencil
