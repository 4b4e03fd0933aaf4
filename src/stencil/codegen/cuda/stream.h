// Prints a pass of columns streamed along z.
#pragma once

#include "stencil/codegen/cuda/stream_shape.h"

namespace farfield::stencil::codegen::cuda {

/// Adds copies to Plan::buffers where columns read what others write.
MemoryPass print_columns(const PrintJob& job, const StreamShape& shape, int number);

} // namespace farfield::stencil::codegen::cuda
