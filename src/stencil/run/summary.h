// summary.json of a stencil run: the only file with wall-clock times in it.
#pragma once

#include "stencil/run/folder.h"

#include "stencil/api/prepare.h"

#include <farfield/stencil_run.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

/// How much a step is, in the two units of farfield/stencil_run.h.
struct StencilWork {
    double cell_steps = 0; ///< cells of all grids that have a field which updates write
    double stencils = 0;   ///< a step, averaged over those with `every`
};
StencilWork work_of(const stencil::ir::Program& program);

struct StencilSummary {
    StencilRunResult result;
    StencilWork work;
    std::optional<std::int64_t> restarted_from_step;
    double seconds = 0;
    double compute_seconds = 0;
    double prepare_seconds = 0;
    double output_seconds = 0;
    std::vector<std::string> notes;
};

void write_summary(const StencilFolder& folder, const StencilProgram& program, const StencilOptions& options,
                   const PreparedStencil& prepared, const StencilSummary& summary);

} // namespace farfield
