// How expressions within a tile reach values: registers of the thread, shared memory of its block, or memory.
#pragma once

#include "stencil/codegen/cuda/loads.h"
#include "stencil/codegen/cuda/tile_shape.h"

namespace farfield::stencil::codegen::cuda {

/// In the interior of the grid (`rim` false) boundaries are not looked at.
class TileSpelling : public DeviceSpelling {
public:
    TileSpelling(const ir::Program& program, const TileShape& shape, int number, int grid,
                 const ir::CellBox& bounds)
        : DeviceSpelling(program, grid, bounds), shape_(shape), number_(number) {}

    std::string load(const ir::Node& node) const override;

protected:
    /// The names of arrays that have a field's values.
    struct FieldArrays {
        std::string here;        ///< those of the thread's patch
        std::string shown, slot; ///< those of other threads
        bool same_plane = false; ///< the arrays have the plane that the read's z offset says, and the end of
                                 ///< the grid along z may be in any tile
    };
    virtual FieldArrays arrays_of(const ir::Node& node) const;

private:
    const TileShape& shape_;
    int number_; ///< of the pass
};

} // namespace farfield::stencil::codegen::cuda
