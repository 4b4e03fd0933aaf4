// Reads within a column.
#include "stencil/codegen/cuda/stream_spelling.h"

namespace farfield::stencil::codegen::cuda {

std::string StreamSpelling::plane(const ir::Buffer& buffer, int depth) {
    return fmt::format("{}_here_{}", buffer.name, depth);
}

TileSpelling::FieldArrays StreamSpelling::arrays_of(const ir::Node& node) const {
    FieldArrays arrays;
    arrays.same_plane = true;
    arrays.here = plane(program().buffers[static_cast<std::size_t>(node.index)],
                        stream_.stages[stage_].lag - node.offsets[2]);
    if (node.offsets[0] == 0 && node.offsets[1] == 0) return arrays;
    const auto number = stream_.exchange(stage_, node.index, node.offsets[2]) - stream_.exchanges.data();
    arrays.shown = fmt::format("shown_{}", number);
    arrays.slot = fmt::format("slot_{}", number);
    return arrays;
}

} // namespace farfield::stencil::codegen::cuda
