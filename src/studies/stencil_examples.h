// Programs of examples/stencil that studies run, as text in the program: an installed program has no
// examples beside it.
#pragma once

#include <string>
#include <string_view>

namespace farfield {

/// "microdisk", "magnetic_disk", "metal_disk" or "metal_disk_cut". @throws InternalError for another name.
std::string stencil_example(std::string_view name);

} // namespace farfield
