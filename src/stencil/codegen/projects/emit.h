// Self-contained projects: a stencil program as C++ that builds and runs without Farfield.
#pragma once

#include "stencil/codegen/executor_options.h"
#include "stencil/ir/ir.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::stencil::codegen {

struct EmitOptions {
    std::int64_t steps = 100;      ///< that the project does unless told otherwise
    std::vector<int> outputs;      ///< fields that it writes at the end; empty: all
    std::string program_text = {}; ///< goes along for people
    /// Mask, steps a pass and block of the code; emit_cpu and emit_mpi read the mask alone.
    ExecutorOptions code = {};
};

/// Stands in the README.md of every project.
inline constexpr std::string_view project_mark = "made by Farfield, which it does not need";

/// What starts projects for ranks of MPI.
inline constexpr std::string_view mpi_launcher = "mpirun -n 4 ";

struct EmittedFile {
    std::string name;    ///< without folders
    std::string content; ///< text, or bytes of values
};

/// A project for any C++17 compiler with GCC's builtins; OpenMP where it is there. It writes FIELD.npy for
/// each output and RECORD.csv for each record, the bits of the cpu target. Its folder need not be empty.
std::vector<EmittedFile> emit_cpu(const ir::Program& program, const EmitOptions& options);

/// The same on the ranks of MPI, each of which computes some rows of every grid: a grid of one axis stays on
/// one rank. The same bits on any number of ranks.
std::vector<EmittedFile> emit_mpi(const ir::Program& program, const EmitOptions& options);

} // namespace farfield::stencil::codegen
