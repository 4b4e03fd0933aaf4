// The plan of a whole program: which kernels go into tiles, and the text around
// all functions.
#include "stencil/codegen/cuda/forms.h"
#include "stencil/codegen/cuda/stream.h"
#include "stencil/codegen/cuda/tile.h"
#include "stencil/codegen/named_numbers.h"
#include "stencil/codegen/used_functions.h"
#include "stencil/ir/unique_names.h"

#include <algorithm>
#include <numeric>

namespace farfield::stencil::codegen::cuda {

namespace {

// Sequences of kernels on one grid, each to be one pass.
std::vector<std::vector<int>> sequences(const ir::Program& program) {
    std::vector<std::vector<int>> found;
    for (std::size_t k = 0; k < program.kernels.size(); ++k) {
        if (found.empty() || program.kernels[k].grid != program.kernels[k - 1].grid) found.emplace_back();
        found.back().push_back(static_cast<int>(k));
    }
    return found;
}

// Records of one cell, which tiles can evaluate between the steps of a pass.
std::vector<int> points_of(const ir::Program& program, int grid) {
    std::vector<int> points;
    for (std::size_t r = 0; r < program.records.size(); ++r) {
        const auto& record = program.records[r];
        if (record.reduction == Reduction::value && record.grid == grid && !record.cells->empty())
            points.push_back(static_cast<int>(r));
    }
    return points;
}

// Other records that fall due between the steps of a pass would miss them. 0:
// any number.
std::int64_t most_steps(const ir::Program& program, const std::vector<int>& points, int asked) {
    std::int64_t steps = asked > 0 ? asked : 0;
    for (std::size_t r = 0; r < program.records.size(); ++r) {
        if (std::find(points.begin(), points.end(), static_cast<int>(r)) != points.end()) continue;
        const auto every = program.records[r].every;
        steps = steps == 0 ? every : std::min(steps, every);
    }
    return steps;
}

// The tiles for a sequence, or nothing where a kernel after the other is
// better.
std::optional<TileShape> choose_tiles(const PrintJob& job, const std::vector<int>& kernels,
                                      bool several_steps) {
    const auto& options = job.options;
    if (!options.fuse) return std::nullopt;
    std::vector<int> points;
    if (several_steps)
        points = points_of(job.program, job.program.kernels[static_cast<std::size_t>(kernels[0])].grid);
    const auto most = several_steps ? most_steps(job.program, points, options.time_tile) : 1;
    const bool asked = options.time_tile > 1;
    if (!asked && most == 1 && kernels.size() == 1) return std::nullopt;
    auto shape = shape_tiles(job.program, kernels, points,
                             options.time_tile > 0 || most == 1 ? static_cast<int>(most) : 0, options.block);
    for (auto fewer = most - 1; !shape && fewer > 1; --fewer)
        shape = shape_tiles(job.program, kernels, points, static_cast<int>(fewer), options.block);
    if (!shape) return std::nullopt;
    if (most > 0 && shape->steps > most)
        shape = shape_tiles(job.program, kernels, points, static_cast<int>(most), options.block);
    if (!asked && shape && shape->cost > plain_cost(job.program, kernels)) return std::nullopt;
    return shape;
}

// Steps a pass of columns unless more are asked for; one more must clearly lower the cost.
constexpr std::int64_t most_columns = 4;
constexpr double clearly = 0.94;

// Columns for a sequence on a grid of three dimensions, or nothing where a kernel after the other is better.
// A pass ends where any record falls due.
std::optional<StreamShape> choose_columns(const PrintJob& job, const std::vector<int>& kernels,
                                          bool several_steps) {
    const auto& options = job.options;
    if (!options.fuse) return std::nullopt;
    const bool asked = options.time_tile > 1 || (options.time_tile == 1 && options.block[0] > 0);
    if (!asked && kernels.size() == 1) return std::nullopt;
    const auto of_steps = [&](std::int64_t steps) {
        return shape_columns(job.program, kernels, static_cast<int>(steps), options.block);
    };
    const auto most = several_steps ? most_steps(job.program, {}, options.time_tile) : 1;
    std::optional<StreamShape> best;
    if (options.time_tile > 0) {
        for (auto steps = most; !best && steps > 0; --steps) best = of_steps(steps);
    } else {
        for (std::int64_t steps = 1; steps <= (most > 0 ? std::min(most, most_columns) : most_columns);
             ++steps)
            if (auto shape = of_steps(steps);
                shape && (!best || shape->tile.cost < clearly * best->tile.cost))
                best = std::move(shape);
    }
    if (!asked && best && best->tile.cost > plain_cost(job.program, kernels)) return std::nullopt;
    return best;
}

// Prints a sequence in the form that suits it. @return a description.
std::string print_sequence(const PrintJob& job, const std::vector<int>& kernels, bool several_steps,
                           std::vector<int>& fused_records) {
    auto& plan = job.plan;
    const auto number = static_cast<int>(plan.passes.size());
    const auto ending = [](const TileShape& shape) {
        return fmt::format("{} step{} a pass", shape.steps, shape.steps == 1 ? "" : "s");
    };
    const auto columns = choose_columns(job, kernels, several_steps);
    const auto tiles = choose_tiles(job, kernels, several_steps);
    if (columns &&
        (!tiles || columns->tile.steps == job.options.time_tile || columns->tile.cost < tiles->cost)) {
        const auto& shape = columns->tile;
        plan.passes.push_back(print_columns(job, *columns, number));
        if (several_steps) plan.steps_a_pass = shape.steps;
        return fmt::format("columns of {} x {} streamed along z, {}", shape.side[0], shape.side[1],
                           ending(shape));
    }
    if (tiles) {
        plan.passes.push_back(print_tiles(job, *tiles, number));
        if (several_steps) plan.steps_a_pass = tiles->steps;
        fused_records.insert(fused_records.end(), tiles->records.begin(), tiles->records.end());
        return fmt::format("tiles of {} x {} x {}, {}", tiles->side[0], tiles->side[1], tiles->side[2],
                           ending(*tiles));
    }
    for (const int k : kernels) plan.passes.push_back(print_plain(job, k));
    return {};
}

void print_source(const PrintJob& job, const Text& kernels, std::string_view behind) {
    Text head;
    head.line("// {}: generated by Farfield. Compile without contraction "
              "(--fmad=false): every fused product "
              "is written out.",
              job.program.name.empty() ? "a stencil program" : job.program.name);
    auto body = kernels.str();
    body = constant_declarations(job.program, body + std::string(behind)) +
           uniform_declarations(job.program, body) + body;
    const auto code = body + std::string(behind);
    const auto operations =
        job.needs.operations ? used_functions(operation_functions(), code) : std::string();
    const auto portable = job.needs.portable
                              ? used_functions(portable_functions(), code, "farfield::portable::")
                              : std::string();
    std::string source = head.str() + "// What the kernels use.\n";
    if (!operations.empty() || !portable.empty()) source += std::string(device_prelude()) + "\n";
    source += operations + portable;
    source += fmt::format("// Places in the fields.\nusing Index = {};\n\n", index_type(job.program));
    source += used_functions(device_helpers(), code);
    job.plan.functions = source.size();
    source += "\n// ---- Kernels.\n\n" + body;
    job.plan.source = std::move(source);
}

// Tiles keep in registers which of their cells belong to a kernel: there is nothing to multiply by.
ExecutorOptions without_tiles_to_multiply(const ir::Program& program, ExecutorOptions options) {
    const bool all_boxes = std::all_of(program.kernels.begin(), program.kernels.end(),
                                       [](const ir::Kernel& kernel) { return kernel.cells->is_box(); });
    if (options.mask == Mask::multiply && !all_boxes) options.fuse = false;
    return options;
}

} // namespace

ir::Program with_plain_names(ir::Program program) {
    UniqueNames names;
    for (auto& buffer : program.buffers) {
        buffer.name = names.unique(buffer.name);
        while (buffer.name.ends_with('_'))
            buffer.name = names.unique(buffer.name.substr(0, buffer.name.size() - 1) + "x");
    }
    return program;
}

Plan plan_program(const ir::Program& original, const ExecutorOptions& given, const PlanUse& use) {
    auto options = without_tiles_to_multiply(original, given);
    options.fuse = options.fuse && !use.by_rows;
    const auto program = with_plain_names(original);
    Plan plan;
    for (const auto& buffer : program.buffers) plan.buffers.push_back(layout_of(program, buffer));
    plan.clock_row = 2 + static_cast<int>(program.uniforms.size());
    Text text;
    auto needs = use.needs;
    const PrintJob job{program,    options, options.mask == Mask::automatic ? Mask::spans : options.mask,
                       plan,       text,    needs,
                       use.by_rows};
    const auto all = sequences(program);
    std::string form = "a kernel an update";
    std::vector<int> fused_records; // evaluated within tiles
    for (const auto& kernels : all) {
        const auto fused = print_sequence(job, kernels, all.size() == 1, fused_records);
        if (!fused.empty()) form = fused;
    }
    for (std::size_t r = 0; r < program.records.size(); ++r)
        if (std::find(fused_records.begin(), fused_records.end(), static_cast<int>(r)) != fused_records.end())
            plan.records.push_back({program.records[r].every, {}});
        else
            plan.records.push_back(print_record(job, static_cast<int>(r)));
    const auto needs_tree = [](const RecordPlan& record) {
        return std::any_of(record.launches.begin(), record.launches.end(),
                           [](const Launch& launch) { return launch.function.starts_with("tree_"); });
    };
    if (std::any_of(plan.records.begin(), plan.records.end(), needs_tree)) print_tree(text);
    print_source(job, text, use.behind);
    plan.description = form;
    return plan;
}

} // namespace farfield::stencil::codegen::cuda
