// Values that a model holds already.
#include "stencil/front_end/model/model.h"

#include <numbers>

namespace farfield::stencil {

int Grid::axis_of(int coordinate) const {
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i].coordinate == coordinate) return static_cast<int>(i);
    return -1;
}

std::optional<lang::Value> constant_value(const Model& model, const lang::Name& name) {
    switch (kind_of(name.symbol)) {
    case SymbolKind::constant:
        return model.constants[static_cast<std::size_t>(name.symbol.index)].value;
    case SymbolKind::spacing:
        return model.grids[static_cast<std::size_t>(name.symbol.index / 3)]
            .axes[static_cast<std::size_t>(name.symbol.index % 3)]
            .spacing;
    case SymbolKind::time_step:
        return model.dt;
    case SymbolKind::pi:
        return std::numbers::pi;
    default:
        return std::nullopt;
    }
}

} // namespace farfield::stencil
