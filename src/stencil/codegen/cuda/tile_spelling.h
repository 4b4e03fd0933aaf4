// How expressions within a tile reach values: registers of the thread, shared memory of its block, or memory.
#pragma once

#include "stencil/codegen/cuda/loads.h"
#include "stencil/codegen/cuda/tile_shape.h"

namespace farfield::stencil::codegen::cuda {

class TileSpelling : public DeviceSpelling {
public:
    TileSpelling(const ir::Program& program, const TileShape& shape, int number, int grid,
                 const ir::CellBox& bounds)
        : DeviceSpelling(program, grid, bounds), shape_(shape), number_(number) {}

    std::string load(const ir::Node& node) const override;

private:
    const TileShape& shape_;
    int number_; ///< of the pass
};

} // namespace farfield::stencil::codegen::cuda
