// Asks the printer of a target for its text.
#include "stencil/codegen/projects/generated_code.h"

#include "stencil/codegen/cpu/row_functions.h"
#include "stencil/codegen/cuda/plan.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield::stencil::codegen {

std::string generated_code(const ir::Program& program, std::string_view target,
                           const ExecutorOptions& options) {
    if (target == "cpu" || target == "mpi") return print_row_functions(program, options.mask).text;
    if (target == "cuda") return cuda::plan_program(program, options).source;
    throw InvalidArgument(fmt::format("the target '{}' has no code to show; cpu and cuda have", target));
}

} // namespace farfield::stencil::codegen
