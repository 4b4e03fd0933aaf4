// Numbers of buffers.
#include "stencil/lowering/buffer_numbers.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield::stencil {

int BufferNumbers::data(std::string_view name, int grid, int axis) const {
    for (const auto& file : files_)
        if (file.name == name && file.grid == grid && file.axis == axis) return data(file.buffer);
    throw InternalError(fmt::format("the file '{}' was not read", name));
}

} // namespace farfield::stencil
