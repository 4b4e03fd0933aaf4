// Text of tables that projects for CPUs and GPUs share.
#pragma once

#include "stencil/codegen/projects/emit.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::stencil::codegen {

/// "Boundary::zero, Boundary::none, Boundary::none"
std::string boundaries_text(const ir::Buffer& buffer);

/// Whether the project writes the buffer at its end.
bool is_output(const ir::Program& program, const EmitOptions& options, int buffer);

/// The name of the file with a buffer's values in quotes; "nullptr" where they are computed.
std::string data_file_text(const ir::Buffer& buffer, std::size_t number);
/// The files of all buffers that have one, in double.
void add_data_files(const ir::Program& program, std::vector<EmittedFile>& files);

/// For a literal: names of buffers of files are those of the files.
std::string escaped(const std::string& name);

} // namespace farfield::stencil::codegen
