// Reads within a tile. In the interior of the grid (`rim` false) boundaries are not looked at.
#include "stencil/codegen/cuda/tile_spelling.h"

namespace farfield::stencil::codegen::cuda {

namespace {

std::string plus(std::string_view name, int offset) {
    if (offset == 0) return std::string(name);
    return fmt::format("{} {} {}", name, offset < 0 ? '-' : '+', std::abs(offset));
}

} // namespace

std::string TileSpelling::load(const ir::Node& node) const {
    const auto* field = shape_.field(node.index);
    if (field == nullptr) return DeviceSpelling::load(node);
    const auto& buffer = program().buffers[static_cast<std::size_t>(node.index)];
    if (node.offsets == std::array<int, 3>{}) return fmt::format("{}_here[p]", buffer.name);
    const auto near = fmt::format("near_{}({}_here, {}_shown, {}_slot, {}, {}, {}, thread)", number_,
                                  buffer.name, buffer.name, buffer.name, plus("i", node.offsets[0]),
                                  plus("j", node.offsets[1]), plus("k", node.offsets[2]));
    std::string zero, mapped;
    std::array<std::string, 3> local;
    for (int axis = 0; axis < 3; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const char name = "xyz"[axis];
        const auto place = plus(std::string_view(&name, 1), node.offsets[a]);
        local[a] = plus(fmt::format("{}_in_tile", name), node.offsets[a]);
        if (!leaves(node, axis)) continue;
        const auto cells = shape()[a];
        if (buffer.boundary[a] == Boundary::zero)
            zero += fmt::format("{}!inside<{}>({})", zero.empty() ? "" : " || ", cells, place);
        if (buffer.boundary[a] != Boundary::clamp && buffer.boundary[a] != Boundary::mirror) continue;
        mapped += fmt::format("{}!inside<{}>({})", mapped.empty() ? "" : " || ", cells, place);
        local[a] = fmt::format("{}_in_tile + ({} - {})", name,
                               coordinate(axis, node.offsets[a], buffer.boundary[a], true, cells), name);
    }
    auto text = near;
    if (!mapped.empty())
        text = fmt::format("(rim && ({}) ? far_{}({}_shown, {}, {}, {}) : {})", mapped, number_, buffer.name,
                           local[0], local[1], local[2], text);
    if (!zero.empty())
        text = fmt::format("(rim && ({}) ? {} : {})", zero,
                           buffer.precision == Precision::single_precision ? "0.0f" : "0.0", text);
    return text;
}

} // namespace farfield::stencil::codegen::cuda
