// What projects for GPUs consist of: the kernels of a plan, kernels for initial values, and text of tables.
#pragma once

#include "stencil/codegen/cuda/plan.h"
#include "stencil/codegen/cuda/writer.h"
#include "stencil/codegen/projects/emit.h"

#include <string>
#include <string_view>
#include <vector>

namespace farfield::stencil::codegen::cuda {

struct GpuProject {
    ir::Program program;            ///< with plain names
    std::vector<std::string> names; ///< of the buffers in the program as it was written
    Plan plan;
    std::vector<std::vector<Launch>> initial; ///< by buffer: compute its values, which are 0 without any
    std::string functions, kernels;           ///< functions.h, and kernels.cu without its tables
};

/// @param by_rows  kernels take rows (PlanUse)
GpuProject make_gpu_project(const ir::Program& program, const ExecutorOptions& options, bool by_rows);

/// "{kernel, {32, 6, 1}, 176, 0, {{Kind::current, 0}}}"
std::string launch_text(const Launch& launch);
/// "{a, b}" of launches, each printed by `print`.
std::string launches_text(const std::vector<Launch>& launches,
                          std::string (*print)(const Launch&) = launch_text);

/// The tables that all projects for GPUs have: bytes of files, scratch, steps, the clock.
void add_common_tables(Text& text, const GpuProject& project, const EmitOptions& options);

/// functions.h, kernels.cu, the files of tables and of data, and the program as it was written.
std::vector<EmittedFile> common_files(const GpuProject& project, const std::string& tables,
                                      const EmitOptions& options);

/// Files that are the same for every program, from the folders cuda and mpi_cuda.
std::string_view emitted_main();
std::string_view emitted_header();
std::string_view emitted_launch();
std::string_view emitted_gpu();
std::string_view emitted_cmake();
std::string_view emitted_ranks_main();
std::string_view emitted_ranks_header();
std::string_view emitted_ranks_fields();
std::string_view emitted_ranks_cmake();

} // namespace farfield::stencil::codegen::cuda
