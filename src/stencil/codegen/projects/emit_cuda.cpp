// Projects for nvcc: the kernels of a plan, kernels for initial values, and the plan as tables.
#include "stencil/codegen/projects/emit_cuda.h"

#include "stencil/codegen/cuda/loads.h"
#include "stencil/codegen/cuda/plan.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

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

// A kernel that computes the values of a buffer before the first step; its launch.
Launch print_initial(const ir::Program& program, int number, Text& text, Needs& needs) {
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
    const auto count = layout.width * layout.rows;
    Launch launch;
    launch.function = fmt::format("initial_{}", number);
    launch.threads = {256, 1, 1};
    launch.blocks = (count + 255) / 256;
    launch.arguments = parameters.arguments;
    text.line("// {} before the first step", buffer.name);
    text.line("extern \"C\" __global__ void {}({}) {{", launch.function, parameters.declaration());
    text.add("const long long number = blockIdx.x * 256LL + threadIdx.x;");
    text.line("if (number >= {}) return;", count);
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
    constexpr std::string_view names[] = {"current", "other", "table",  "scratch",
                                          "clock",   "steps", "series", "number"};
    return names[static_cast<std::size_t>(kind)];
}

std::string launch_text(const Launch& launch) {
    std::string arguments;
    for (const auto& a : launch.arguments)
        arguments +=
            fmt::format("{}{{Kind::{}, {}}}", arguments.empty() ? "" : ", ", kind_name(a.kind), a.index);
    return fmt::format("{{reinterpret_cast<const void*>({}), {{{}, {}, {}}}, {}, {}, {{{}}}}}",
                       launch.function, launch.threads[0], launch.threads[1], launch.threads[2],
                       launch.blocks, launch.shared_bytes, arguments);
}

std::string launches_text(const std::vector<Launch>& launches) {
    std::string text;
    for (const auto& launch : launches) text += (text.empty() ? "" : ", ") + launch_text(launch);
    return fmt::format("{{{}}}", text);
}

std::string data_file(std::size_t buffer) { return fmt::format("data_{}.f64", buffer); }

Text print_tables(const ir::Program& program, const Plan& plan, const EmitOptions& options,
                  const std::vector<std::vector<Launch>>& initial) {
    Text text;
    text.add("// The program as tables.");
    text.add("const std::vector<Buffer> buffers = {");
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const auto& buffer = program.buffers[b];
        const auto& grid = program.grids[static_cast<std::size_t>(buffer.grid)];
        const auto& layout = plan.buffers[b];
        const auto& list = options.outputs;
        const bool output =
            buffer.kind == ir::BufferKind::field &&
            (list.empty() || std::find(list.begin(), list.end(), static_cast<int>(b)) != list.end());
        text.line("{{\"{}\", {}, {{{}, {}, {}}}, {}, {}, {}, {}, {}, {}, {}, {}}},", buffer.name, grid.rank,
                  grid.shape[0], grid.shape[1], grid.shape[2], layout.width, layout.rows, layout.pitch,
                  layout.value_bytes, layout.copies, output,
                  buffer.initial.nodes.empty() ? fmt::format("\"{}\"", data_file(b)) : "nullptr",
                  launches_text(initial[b]));
    }
    text.add("};");
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
    text.add("const std::vector<Pass> passes = {");
    for (const auto& pass : plan.passes) {
        text.line("// {}", pass.name);
        text.line("{{{}, {}, {{{}}}}},", pass.every, launches_text(pass.launches),
                  fmt::join(pass.swapped, ", "));
    }
    text.add("};");
    text.add("const std::vector<Record> records = {");
    for (std::size_t r = 0; r < plan.records.size(); ++r)
        text.line("{{\"{}\", {}, {}}},", program.records[r].name, plan.records[r].every,
                  launches_text(plan.records[r].launches));
    text.add("};");
    text.line("const long long steps_a_pass = {};", plan.steps_a_pass);
    text.line("const long long default_steps = {};", options.steps);
    text.line("const int clock_row = {};", plan.clock_row);
    text.line("const double dt = {:.17g};", program.dt); // 17 digits read back as the same number
    return text;
}

void replace(std::string& text, std::string_view what, std::string_view with) {
    if (const auto at = text.find(what); at != std::string::npos) text.replace(at, what.size(), with);
}

std::string readme(const ir::Program& program, const Plan& plan, const EmitOptions& options) {
    auto text = fmt::format(
        "# {}\n\nA stencil program as CUDA C++, {}: {}.\n\n"
        "    cmake -S . -B build && cmake --build build && build/run {}\n\n"
        "writes FIELD.npy for each output field and RECORD.csv for each record into the current folder.\n"
        "`-DCMAKE_CUDA_ARCHITECTURES=80` builds for another GPU than H100 and H200.\n\n"
        "| file | holds |\n| --- | --- |\n"
        "| `kernels.cu` | the kernels, and the program as tables |\n"
        "| `functions.h` | what the kernels use: indices, and the functions of mathematics in them |\n"
        "| `table_N.bin` | cells and tiles that kernels run on |\n"
        "| `program.h` | what the tables consist of |\n"
        "| `main.cu` | memory, the loop over steps, files |\n",
        program.name.empty() ? "Stencil program" : program.name, project_mark, plan.description,
        options.steps);
    if (!options.program_text.empty()) text += "| `program.ff` | the program as it was written |\n";
    return text;
}

} // namespace

std::vector<EmittedFile> emit_cuda(const ir::Program& original, const EmitOptions& options) {
    const auto program = with_plain_names(original);
    Needs needs;
    const auto uniforms = print_uniforms(program, needs);
    Text initial_text;
    std::vector<std::vector<Launch>> initial(program.buffers.size());
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
        if (!program.buffers[b].initial.nodes.empty() && !is_zero(program.buffers[b].initial))
            initial[b].push_back(print_initial(program, static_cast<int>(b), initial_text, needs));
    const auto behind = initial_text.str() + uniforms.str();
    const auto plan = plan_program(program, options.code, needs, behind);
    auto functions = plan.source.substr(0, plan.functions);
    // the portable functions are called on the host too, for what is the same in all cells
    replace(functions, "#define FF_HD __device__\n", "#define FF_HD __host__ __device__\n");
    functions =
        fmt::format("#pragma once\n#include <cmath>\n#include <cstring>\n#include <limits>\n\n{}", functions);
    const auto source = fmt::format("#include \"functions.h\"\n#include \"program.h\"\n{}{}\n{}",
                                    plan.source.substr(plan.functions), behind,
                                    print_tables(program, plan, options, initial).str());
    std::vector<EmittedFile> files{{"README.md", readme(program, plan, options)},
                                   {"CMakeLists.txt", std::string(emitted_cmake())},
                                   {"main.cu", std::string(emitted_main())},
                                   {"program.h", std::string(emitted_header())},
                                   {"functions.h", functions},
                                   {"kernels.cu", source}};
    if (!options.program_text.empty()) files.push_back({"program.ff", options.program_text});
    for (std::size_t i = 0; i < plan.tables.size(); ++i)
        files.push_back(
            {fmt::format("table_{}.bin", i), {plan.tables[i].bytes.begin(), plan.tables[i].bytes.end()}});
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const auto& buffer = program.buffers[b];
        if (!buffer.initial.nodes.empty()) continue;
        std::string bytes(buffer.values.size() * sizeof(double), '\0');
        std::memcpy(bytes.data(), buffer.values.data(), bytes.size());
        files.push_back({data_file(b), std::move(bytes)});
    }
    return files;
}

} // namespace farfield::stencil::codegen::cuda
