// Files that are the same for every program, of projects for CPUs, from the folders cpu and mpi.
#pragma once

#include <string_view>

namespace farfield::stencil::codegen {

std::string_view emitted_main();
std::string_view emitted_fields();
std::string_view emitted_grids();
/// With @FF_ROW_CALL@ in place of struct RowCall.
std::string_view emitted_header();
std::string_view emitted_cmake();

std::string_view emitted_mpi_main();
std::string_view emitted_ranks();
std::string_view emitted_mpi_cmake();

} // namespace farfield::stencil::codegen
