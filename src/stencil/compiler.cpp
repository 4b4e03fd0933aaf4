// The pipeline, from a model to what targets execute.
#include "stencil/compiler.h"

#include "stencil/analysis/analysis.h"
#include "stencil/analysis/stability/stability.h"
#include "stencil/ir/verify.h"
#include "stencil/lowering/conditions.h"
#include "stencil/lowering/lower.h"
#include "stencil/passes/passes.h"

#include <array>

namespace farfield::stencil {
namespace {

struct Pass {
    std::string_view name;
    void (*run)(ir::Program&);
};

constexpr std::array passes{Pass{"fold", fold}, Pass{"cse", cse}, Pass{"hoist", hoist}, Pass{"fuse", fuse},
                            Pass{"name", name}};

// Grids, and what applies where; no code yet.
ir::Program outline(const Model& model, const Domains& domains) {
    ir::Program out;
    out.name = model.name;
    out.dt = model.dt;
    for (const auto& grid : model.grids) out.grids.push_back(lower_grid(grid));
    const auto add = [&](const std::string& name, int grid, const CellSetPtr& cells) {
        ir::Kernel kernel;
        kernel.name = name;
        kernel.grid = grid;
        kernel.cells = cells;
        out.kernels.push_back(std::move(kernel));
    };
    for (std::size_t i = 0; i < model.updates.size(); ++i)
        add(model.updates[i].name, model.updates[i].grid, domains.updates[i]);
    for (std::size_t i = 0; i < model.sources.size(); ++i)
        add(model.sources[i].update.name, model.sources[i].update.grid, domains.sources[i]);
    for (std::size_t i = 0; i < model.records.size(); ++i) {
        ir::Record record;
        record.name = model.records[i].name;
        record.grid = model.records[i].grid;
        record.reduction = model.records[i].reduction;
        record.every = model.records[i].every;
        record.cells = domains.records[i];
        out.records.push_back(std::move(record));
    }
    return out;
}

} // namespace

std::vector<std::string_view> compiler_passes() {
    std::vector<std::string_view> names{"domains", "lower"};
    for (const auto& pass : passes) names.push_back(pass.name);
    return names;
}

std::shared_ptr<const ir::Program> compile(const Model& model, const CompileOptions& options,
                                           lang::Diagnostics& diagnostics) {
    const auto show = [&](std::string_view pass, const ir::Program& program) {
        if (options.after_pass) options.after_pass(pass, program);
    };
    auto domains = analyse(model, options, diagnostics);
    if (diagnostics.has_errors()) return nullptr;
    show("domains", outline(model, domains));
    auto program = lower(model, domains, diagnostics);
    if (diagnostics.has_errors()) return nullptr;
    ir::verify(program);
    show("lower", program);
    if (options.check_whole_numbers) check_whole_numbers(program, model, diagnostics);
    if (diagnostics.has_errors()) return nullptr;
    if (!options.allow_unstable) check_stability(program, model, domains, diagnostics);
    if (diagnostics.has_errors()) return nullptr;
    if (options.optimise)
        for (const auto& pass : passes) {
            pass.run(program);
            ir::verify(program);
            show(pass.name, program);
        }
    return std::make_shared<const ir::Program>(std::move(program));
}

} // namespace farfield::stencil
