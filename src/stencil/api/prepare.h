// From a program to an executor with all fields at their initial values.
#pragma once

#include "stencil/api/program_data.h"
#include "stencil/runtime/executor.h"

#include <farfield/stencil.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace farfield {

struct PreparedStencil {
    std::shared_ptr<const stencil::ir::Program> program;
    std::unique_ptr<stencil::Executor> executor;
    std::string target; ///< the one taken
    std::string warnings;
    std::vector<std::string> notes; ///< that another target was taken than was asked for
};

stencil::ExecutorOptions executor_options(const StencilOptions& options);

/// Throws as the constructor of StencilRun.
/// Steps between looks for values that are not finite. A number of steps, not a time, so that a run that went
/// wrong ends alike on every machine. A look copies all fields to the host, which on a GPU costs as much as a
/// few hundred steps, on a CPU as a few.
std::int64_t look_every(std::string_view target);

/// @param finding_cells told which share of the cells of a condition is done, on any thread.
PreparedStencil prepare(const StencilProgram::Data& program, const StencilOptions& options,
                        const std::function<void(double)>& finding_cells = {});

/// The index of a name in the program's fields or records. @throws InvalidArgument naming those there are.
int field_index(const stencil::Model& model, std::string_view name);
int record_index(const stencil::Model& model, std::string_view name);

std::int64_t cells_of(const stencil::Grid& grid);

} // namespace farfield
