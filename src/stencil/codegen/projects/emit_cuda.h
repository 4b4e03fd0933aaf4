// A stencil program as a CUDA project that needs no Farfield.
#pragma once

#include "stencil/codegen/projects/emit.h"

#include <string_view>
#include <vector>

namespace farfield::stencil::codegen::cuda {

/// A project for nvcc. It writes FIELD.npy for each output and RECORD.csv for each record, the bits of every
/// target.
std::vector<EmittedFile> emit_cuda(const ir::Program& program, const EmitOptions& options);

/// Files that are the same for every program, from the folder cuda.
std::string_view emitted_main();
std::string_view emitted_header();
std::string_view emitted_cmake();

} // namespace farfield::stencil::codegen::cuda
