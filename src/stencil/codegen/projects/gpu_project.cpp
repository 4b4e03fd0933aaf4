#include "stencil/codegen/projects/gpu_project.h"

#include "stencil/codegen/cuda/loads.h"
#include "stencil/codegen/projects/table_texts.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cmath>

namespace farfield::stencil::codegen::cuda {

namespace {

class UniformSpelling : public DeviceSpelling {
public:
    explicit UniformSpelling(const ir::Program& program) : DeviceSpelling(program, 0, {}) {}
    std::string uniform(int index) const override { return fmt::format("values[{}]", index); }
    std::string time() const override { return "t"; }
    std::string step() const override { return "step"; }
    std::string_view infinity() const override { return "std::numeric_limits<double>::infinity()"; }
    std::string_view not_a_number() const override { return "std::numeric_limits<double>::quiet_NaN()"; }
};

bool is_zero(const ir::Code& code) {
    const auto& result = code.nodes[static_cast<std::size_t>(code.result)];
    return result.op == ir::Op::constant && result.real == 0 && !std::signbit(result.real) &&
           result.integer == 0;
}

Text print_uniforms(const ir::Program& program, Needs& needs) {
    Text text;
    text.add("void uniforms([[maybe_unused]] double t, [[maybe_unused]] long long step, [[maybe_unused]] "
             "double* values) {");
    const UniformSpelling spelling(program);
    for (std::size_t i = 0; i < program.uniforms.size(); ++i) {
        const auto printed =
            print_code(program.uniforms[i], std::vector<Root>{{program.uniforms[i].result, {}}}, spelling);
        needs |= printed.needs;
        text.add("{");
        for (const auto& line : printed.lines) text.add(line);
        text.line("values[{}] = {}; // {}", i, printed.values[0], uniform_name(program, static_cast<int>(i)));
        text.add("}");
    }
    text.add("}");
    return text;
}

// A kernel that computes the values of a buffer before the first step; its launch. Values along an axis are
// computed whole, also where kernels take rows.
Launch print_initial(const ir::Program& program, int number, bool takes_rows, Text& text, Needs& needs) {
    const auto& buffer = program.buffers[static_cast<std::size_t>(number)];
    const auto layout = layout_of(program, buffer);
    const auto& shape = program.grids[static_cast<std::size_t>(buffer.grid)].shape;
    const DeviceSpelling spelling(program, buffer.grid, ir::whole(shape));
    const auto printed =
        print_code(buffer.initial, std::vector<Root>{{buffer.initial.result, "value"}}, spelling);
    needs |= printed.needs;
    Parameters parameters;
    add_reads(parameters, program, buffer.initial);
    parameters.add(fmt::format("{}*", type_name(buffer.precision)), next(buffer), ArgumentKind::current,
                   number);
    const bool by_rows = takes_rows && buffer.axis < 0;
    if (by_rows) add_row_parameters(parameters);
    const auto count = layout.width * layout.rows * layout.planes;
    Launch launch;
    launch.rows = {.end = {buffer.axis < 0 ? shape[1] : 1, buffer.axis < 0 ? shape[2] : 1},
                   .units_a_row = layout.width,
                   .units_a_block = 256};
    launch.function = fmt::format("initial_{}", number);
    launch.threads = {256, 1, 1};
    launch.blocks = (count + 255) / 256;
    launch.arguments = parameters.arguments;
    text.line("// {} before the first step", buffer.name);
    text.line("extern \"C\" __global__ void {}({}) {{", launch.function, parameters.declaration());
    text.line("const long long number = {} * 256LL + threadIdx.x;",
              by_rows ? "(first_block + blockIdx.x)" : "blockIdx.x");
    text.line("if (number >= {}) return;", count);
    if (by_rows) text.line("if (!is_among(number / {}, first_row, end_row)) return;", shape[0]);
    if (buffer.axis >= 0) {
        text.line("const int {} = static_cast<int>(number);", "xyz"[buffer.axis]);
        text.line("const Index at = {};", "xyz"[buffer.axis]);
    } else {
        text.line("const int x = static_cast<int>(number % {0}), y = static_cast<int>(number / {0} % {1}), "
                  "z = static_cast<int>(number / {2});",
                  shape[0], shape[1], shape[0] * shape[1]);
        text.line("const Index at = x + {} * (y + {} * Index(z));", layout.pitch, shape[1]);
    }
    for (const auto& line : printed.lines) text.add(line);
    text.line("{}[at] = static_cast<{}>(value);", next(buffer), type_name(buffer.precision));
    text.add("}");
    text.blank();
    return launch;
}

std::string_view kind_name(ArgumentKind kind) {
    constexpr std::string_view names[] = {"current", "other",  "table",       "scratch",   "clock",  "steps",
                                          "series",  "number", "first_block", "first_row", "end_row"};
    return names[static_cast<std::size_t>(kind)];
}

void replace(std::string& text, std::string_view what, std::string_view with) {
    if (const auto at = text.find(what); at != std::string::npos) text.replace(at, what.size(), with);
}

} // namespace

std::string launch_text(const Launch& launch) {
    std::string arguments;
    for (const auto& a : launch.arguments)
        arguments +=
            fmt::format("{}{{Kind::{}, {}}}", arguments.empty() ? "" : ", ", kind_name(a.kind), a.index);
    return fmt::format("{{reinterpret_cast<const void*>({}), {{{}, {}, {}}}, {}, {}, {{{}}}}}",
                       launch.function, launch.threads[0], launch.threads[1], launch.threads[2],
                       launch.blocks, launch.shared_bytes, arguments);
}

std::string launches_text(const std::vector<Launch>& launches, std::string (*print)(const Launch&)) {
    std::string text;
    for (const auto& launch : launches) text += (text.empty() ? "" : ", ") + print(launch);
    return fmt::format("{{{}}}", text);
}

GpuProject make_gpu_project(const ir::Program& original, const ExecutorOptions& options, bool by_rows) {
    GpuProject project;
    project.program = with_plain_names(original);
    for (const auto& buffer : original.buffers) project.names.push_back(buffer.name);
    const auto& program = project.program;
    PlanUse use;
    use.by_rows = by_rows;
    const auto uniforms = print_uniforms(program, use.needs);
    Text initial_text;
    project.initial.resize(program.buffers.size());
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
        if (!program.buffers[b].initial.nodes.empty() && !is_zero(program.buffers[b].initial))
            project.initial[b].push_back(
                print_initial(program, static_cast<int>(b), by_rows, initial_text, use.needs));
    const auto behind = initial_text.str() + uniforms.str();
    use.behind = behind;
    project.plan = plan_program(program, options, use);
    const auto& plan = project.plan;
    auto functions = plan.source.substr(0, plan.functions);
    // the portable functions are called on the host too, for what is the same in all cells
    replace(functions, "#define FF_HD __device__\n", "#define FF_HD __host__ __device__\n");
    project.functions =
        fmt::format("#pragma once\n#include <cmath>\n#include <cstring>\n#include <limits>\n\n{}", functions);
    project.kernels = plan.source.substr(plan.functions) + behind;
    return project;
}

void add_common_tables(Text& text, const GpuProject& project, const EmitOptions& options) {
    const auto& plan = project.plan;
    std::string sizes, scratches;
    for (const auto& table : plan.tables)
        sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", table.bytes.size());
    for (const auto& s : plan.scratch)
        scratches +=
            fmt::format("{}{{{}, {}}}", scratches.empty() ? "" : ", ", s.values,
                        std::isnan(s.initial)   ? "std::numeric_limits<double>::quiet_NaN()"
                        : std::isinf(s.initial) ? (s.initial < 0 ? "-std::numeric_limits<double>::infinity()"
                                                                 : "std::numeric_limits<double>::infinity()")
                                                : "0.0");
    text.line("const std::vector<long long> table_bytes = {{{}}};", sizes);
    text.line("const std::vector<Scratch> scratch = {{{}}};", scratches);
    text.line("const long long default_steps = {};", options.steps);
    text.line("const int clock_row = {};", plan.clock_row);
    text.line("const double dt = {:.17g};", project.program.dt); // 17 digits read back as the same number
}

std::vector<EmittedFile> common_files(const GpuProject& project, const std::string& tables,
                                      const EmitOptions& options) {
    const auto& plan = project.plan;
    std::vector<EmittedFile> files{
        {"functions.h", project.functions},
        {"kernels.cu",
         fmt::format("#include \"functions.h\"\n#include \"program.h\"\n{}\n{}", project.kernels, tables)}};
    if (!options.program_text.empty()) files.push_back({"program.ff", options.program_text});
    for (std::size_t i = 0; i < plan.tables.size(); ++i)
        files.push_back(
            {fmt::format("table_{}.bin", i), {plan.tables[i].bytes.begin(), plan.tables[i].bytes.end()}});
    add_data_files(project.program, files);
    return files;
}

} // namespace farfield::stencil::codegen::cuda
