// Indices into buffers as text.
#include "stencil/codegen/cuda/loads.h"

namespace farfield::stencil::codegen::cuda {

namespace {

std::string shifted(char axis, std::int64_t offset) {
    if (offset == 0) return std::string(1, axis);
    return fmt::format("{} {} {}", axis, offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
}

} // namespace

std::string coordinate(int axis, int offset, Boundary boundary, bool leaves, std::int64_t cells) {
    const char name = "xyz"[axis];
    if (!leaves) return offset == 0 ? shifted(name, 0) : fmt::format("({})", shifted(name, offset));
    switch (boundary) {
    case Boundary::periodic:
        return fmt::format("around<{}>({})", cells, shifted(name, offset % cells));
    case Boundary::mirror:
        return fmt::format("reflected<{}>({})", cells, shifted(name, offset));
    default: // of `zero` the value is not used, but must be somewhere
        return fmt::format("nearest<{}>({})", cells, shifted(name, offset));
    }
}

bool DeviceSpelling::leaves(const ir::Node& node, int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    return bounds_.first[a] + node.offsets[a] < 0 || bounds_.last[a] + node.offsets[a] > shape()[a];
}

std::string DeviceSpelling::load(const ir::Node& node) const {
    const auto& buffer = program_.buffers[static_cast<std::size_t>(node.index)];
    const auto layout = layout_of(program_, buffer);
    const auto rows = rows_a_plane(program_, buffer.grid);
    std::array<std::string, 3> place;
    std::string inside;
    bool any = false;
    std::int64_t distance = 0;
    const std::array<std::int64_t, 3> strides = {1, layout.pitch, layout.pitch * rows};
    for (int axis = 0; axis < 3; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const int offset = node.offsets[a];
        const bool out = leaves(node, axis) && (buffer.axis < 0 || buffer.axis == axis);
        any |= out;
        distance += offset * strides[a];
        place[a] = coordinate(axis, offset, buffer.boundary[a], out, shape()[a]);
        if (out && buffer.boundary[a] == Boundary::zero)
            inside += fmt::format("{}inside<{}>({})", inside.empty() ? "" : " && ", shape()[a],
                                  shifted("xyz"[axis], offset));
    }
    std::string text;
    if (buffer.axis >= 0)
        text = fmt::format("{}[{}]", now(buffer), place[static_cast<std::size_t>(buffer.axis)]);
    else if (!any)
        text = distance == 0 ? fmt::format("{}[at]", now(buffer))
                             : fmt::format("{}[at {} {}]", now(buffer), distance < 0 ? '-' : '+',
                                           distance < 0 ? -distance : distance);
    else
        text = fmt::format("{}[{} + {} * ({} + {} * Index({}))]", now(buffer), place[0], layout.pitch,
                           place[1], rows, place[2]);
    if (inside.empty()) return text;
    return fmt::format("({} ? {} : {})", inside, text,
                       buffer.precision == Precision::single_precision ? "0.0f" : "0.0");
}

void add_reads(Parameters& parameters, const ir::Program& program, const ir::Code& code) {
    for (const auto& node : code.nodes) {
        if (node.op != ir::Op::load) continue;
        const auto& buffer = program.buffers[static_cast<std::size_t>(node.index)];
        parameters.add(fmt::format("{}{}*", buffer.written ? "" : "const ", type_name(buffer.precision)),
                       now(buffer), ArgumentKind::current, node.index);
    }
}

} // namespace farfield::stencil::codegen::cuda
