// Reads of expressions and the boxes in which they exist.
#include "stencil/reads/accesses.h"

#include <algorithm>

namespace farfield::stencil {
namespace {

void collect(const lang::Expr& expr, bool conditional, std::vector<CellRead>& out) {
    if (const auto* name = std::get_if<lang::Name>(&expr.node)) {
        const auto kind = kind_of(name->symbol);
        if (kind == SymbolKind::field || kind == SymbolKind::coefficient || kind == SymbolKind::array)
            out.push_back({kind, name->symbol.index, {}, expr.span, 0, conditional});
    } else if (const auto* access = std::get_if<lang::Access>(&expr.node)) {
        out.push_back(
            {kind_of(access->symbol), access->symbol.index, access->offsets, expr.span, 0, conditional});
    } else if (const auto* select = std::get_if<lang::Select>(&expr.node)) {
        collect(*select->condition, conditional, out);
        collect(*select->yes, true, out);
        collect(*select->no, true, out);
    } else {
        lang::for_each_child(expr, [&](const lang::Expr& child) { collect(child, conditional, out); });
    }
}

ir::CellBox box_of(const Model& model, int grid, const std::vector<CellRead>& reads) {
    auto box = ir::whole(shape_of(model.grids[static_cast<std::size_t>(grid)]));
    for (const auto& read : reads)
        for (std::size_t axis = 0; axis < model.grids[static_cast<std::size_t>(grid)].axes.size(); ++axis) {
            if (boundary_beyond(model, read, axis) != Boundary::none) continue;
            const auto cells = model.grids[static_cast<std::size_t>(grid)].axes[axis].cells;
            const std::int64_t offset = read.offsets[axis];
            box.first[axis] = std::max(box.first[axis], -offset);
            box.last[axis] = std::min(box.last[axis], cells - offset);
        }
    return box.empty() ? ir::CellBox{} : box;
}

} // namespace

std::vector<CellRead> reads_of(const lang::Expr& expr) {
    std::vector<CellRead> out;
    collect(expr, false, out);
    return out;
}

std::vector<CellRead> reads_of(const Update& update) {
    std::vector<CellRead> out;
    for (std::size_t i = 0; i < update.operations.size(); ++i)
        for (auto& read : reads_of(*update.operations[i].value)) {
            read.operation = static_cast<int>(i);
            out.push_back(read);
        }
    return out;
}

Boundary boundary_beyond(const Model& model, const CellRead& read, std::size_t axis) {
    return read.kind == SymbolKind::field ? model.fields[static_cast<std::size_t>(read.index)].boundary[axis]
                                          : Boundary::none;
}

ir::Shape shape_of(const Grid& grid) {
    ir::Shape shape = {1, 1, 1};
    for (std::size_t i = 0; i < grid.axes.size(); ++i) shape[i] = grid.axes[i].cells;
    return shape;
}

ir::CellBox access_box(const Model& model, const Update& update) {
    return box_of(model, update.grid, reads_of(update));
}

ir::CellBox access_box(const Model& model, const Record& record) {
    return box_of(model, record.grid, reads_of(*record.value));
}

} // namespace farfield::stencil
