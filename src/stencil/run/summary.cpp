#include "stencil/run/summary.h"

#include "backend/threads/parallel.h"
#include "base/json.h"
#include "base/machine.h"
#include "io/atomic_file.h"

#include <farfield/version.h>

#include <algorithm>
#include <vector>

namespace farfield {
namespace {

Json machine_json() {
    const auto machine = this_machine();
    return {{"cpu", machine.cpu},
            {"logical_cpus", machine.logical_cpus},
            {"system", machine.system},
            {"compiler", machine.compiler}};
}

Json parameters_json(const StencilProgram& program) {
    Json out = Json::object();
    for (const auto& parameter : program.parameters())
        std::visit([&](const auto& value) { out[parameter.name] = value; }, parameter.value);
    return out;
}

Json grids_json(const stencil::Model& model) {
    Json out = Json::object();
    for (const auto& grid : model.grids) {
        Json cells = Json::object();
        for (const auto& axis : grid.axes) cells[std::string(1, "xyz"[axis.coordinate])] = axis.cells;
        out[grid.name] = std::move(cells);
    }
    return out;
}

} // namespace

StencilWork work_of(const stencil::ir::Program& program) {
    StencilWork work;
    std::vector<bool> counted(program.grids.size(), false);
    for (const auto& kernel : program.kernels) {
        const auto grid = static_cast<std::size_t>(kernel.grid);
        const auto& shape = program.grids[grid].shape;
        if (!counted[grid]) work.cell_steps += static_cast<double>(shape[0] * shape[1] * shape[2]);
        counted[grid] = true;
        work.stencils += static_cast<double>(kernel.stores.size()) *
                         static_cast<double>(kernel.cells->count()) / static_cast<double>(kernel.every);
    }
    return work;
}

void write_summary(const StencilFolder& folder, const StencilProgram& program, const StencilOptions& options,
                   const PreparedStencil& prepared, const StencilSummary& summary) {
    const auto& preparation = prepared.executor->preparation();
    Json out;
    out["farfield"] = std::string(version());
    out["program"] = program.name();
    out["parameters"] = parameters_json(program);
    out["grids"] = grids_json(program.data()->model());
    out["finished"] = summary.result.finished;
    out["step"] = summary.result.step;
    out["time"] = summary.result.time;
    out["dt"] = program.dt();
    out["machine"] = machine_json();
    out["target"] = {{"name", prepared.target},
                     {"description", preparation.description},
                     {"mask", name_of(options.mask)},
                     {"ranks", options.communicator.size()},
                     {"threads", thread_count(options.threads)},
                     {"compile_seconds", preparation.compile_seconds},
                     {"cached", preparation.cached}};
    out["a_step"] = {{"cell_steps", summary.work.cell_steps}, {"stencils", summary.work.stencils}};
    out["units"] = {{"cell_step", "one cell of a grid in one step, in a subdomain or not"},
                    {"stencil", "one equation at one cell where it applies"}};
    if (summary.restarted_from_step) out["restarted_from_step"] = *summary.restarted_from_step;
    out["this_process"] = {{"steps", summary.result.steps_here},
                           {"seconds", summary.seconds},
                           {"prepare_seconds", summary.prepare_seconds},
                           {"compute_seconds", summary.compute_seconds},
                           {"output_seconds", summary.output_seconds},
                           {"cell_steps_per_second", summary.result.cell_steps_per_second},
                           {"stencils_per_second", summary.result.stencils_per_second}};
    out["notes"] = summary.notes;
    Json files = Json::array();
    for (const auto& file : folder.files())
        if (file != folder.summary()) files.push_back(file.filename().string());
    out["files"] = std::move(files);
    write_file_atomically(folder.summary(), out.dump(2) + "\n");
}

} // namespace farfield
