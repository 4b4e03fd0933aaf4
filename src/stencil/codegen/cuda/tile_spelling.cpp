// Reads within a tile.
#include "stencil/codegen/cuda/tile_spelling.h"

namespace farfield::stencil::codegen::cuda {

namespace {

std::string plus(std::string_view name, int offset) {
    if (offset == 0) return std::string(name);
    return fmt::format("{} {} {}", name, offset < 0 ? '-' : '+', std::abs(offset));
}

} // namespace

TileSpelling::FieldArrays TileSpelling::arrays_of(const ir::Node& node) const {
    const auto& name = program().buffers[static_cast<std::size_t>(node.index)].name;
    return {name + "_here", name + "_shown", name + "_slot", false};
}

std::string TileSpelling::load(const ir::Node& node) const {
    if (shape_.field(node.index) == nullptr) return DeviceSpelling::load(node);
    const auto& buffer = program().buffers[static_cast<std::size_t>(node.index)];
    const auto arrays = arrays_of(node);
    auto within = node.offsets; // of the arrays
    if (arrays.same_plane) within[2] = 0;
    std::string text = fmt::format("{}[p]", arrays.here);
    if (within != std::array<int, 3>{})
        text = fmt::format("near_{}({}, {}, {}, {}, {}, {}, thread)", number_, arrays.here, arrays.shown,
                           arrays.slot, plus("i", within[0]), plus("j", within[1]), plus("k", within[2]));
    std::string zero, mapped, beyond;
    std::array<std::string, 3> local;
    for (int axis = 0; axis < 3; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const char name = "xyz"[axis];
        const auto at = plus(std::string_view(&name, 1), node.offsets[a]);
        local[a] = plus(fmt::format("{}_in_tile", name), within[a]);
        if (!leaves(node, axis)) continue;
        const auto cells = shape()[a];
        if (buffer.boundary[a] == Boundary::zero && axis == 2 && arrays.same_plane)
            beyond = fmt::format("!inside<{}>({})", cells, at);
        else if (buffer.boundary[a] == Boundary::zero)
            zero += fmt::format("{}!inside<{}>({})", zero.empty() ? "" : " || ", cells, at);
        if (buffer.boundary[a] != Boundary::clamp && buffer.boundary[a] != Boundary::mirror) continue;
        mapped += fmt::format("{}!inside<{}>({})", mapped.empty() ? "" : " || ", cells, at);
        local[a] = fmt::format("{}_in_tile + ({} - {})", name,
                               coordinate(axis, node.offsets[a], buffer.boundary[a], true, cells), name);
    }
    const auto* const nothing = buffer.precision == Precision::single_precision ? "0.0f" : "0.0";
    if (!mapped.empty())
        text = fmt::format("(rim && ({}) ? far_{}({}, {}, {}, {}) : {})", mapped, number_, arrays.shown,
                           local[0], local[1], local[2], text);
    if (!zero.empty()) text = fmt::format("(rim && ({}) ? {} : {})", zero, nothing, text);
    if (!beyond.empty()) text = fmt::format("({} ? {} : {})", beyond, nothing, text);
    return text;
}

} // namespace farfield::stencil::codegen::cuda
