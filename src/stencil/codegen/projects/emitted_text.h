// Files that all projects for CPUs share, from the folder cpu.
#pragma once

#include <string_view>

namespace farfield::stencil::codegen {

std::string_view emitted_main();
/// With @FF_ROW_CALL@ in place of struct RowCall.
std::string_view emitted_header();
std::string_view emitted_cmake();

} // namespace farfield::stencil::codegen
