// How expressions within a column reach values: the window of planes in the thread's registers, planes that
// threads show each other, or memory.
#pragma once

#include "stencil/codegen/cuda/stream_shape.h"
#include "stencil/codegen/cuda/tile_spelling.h"

namespace farfield::stencil::codegen::cuda {

class StreamSpelling : public TileSpelling {
public:
    StreamSpelling(const ir::Program& program, const StreamShape& shape, int number, int grid,
                   const ir::CellBox& bounds, std::size_t stage)
        : TileSpelling(program, shape.tile, number, grid, bounds), stream_(shape), stage_(stage) {}

    /// The array of a field's plane `depth` planes behind the newest one.
    static std::string plane(const ir::Buffer& buffer, int depth);

protected:
    FieldArrays arrays_of(const ir::Node& node) const override;

private:
    const StreamShape& stream_;
    std::size_t stage_;
};

} // namespace farfield::stencil::codegen::cuda
