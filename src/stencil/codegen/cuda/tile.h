// Prints a pass of overlapped tiles: several kernels, for several steps, between one read and one write of
// memory.
#pragma once

#include "stencil/codegen/cuda/tile_shape.h"

namespace farfield::stencil::codegen::cuda {

/// Adds copies to Plan::buffers where tiles read what others write.
MemoryPass print_tiles(const PrintJob& job, const TileShape& shape, int number);

} // namespace farfield::stencil::codegen::cuda
