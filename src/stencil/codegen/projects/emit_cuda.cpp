// Projects for a GPU: the plan as tables.
#include "stencil/codegen/projects/emit_cuda.h"

#include "base/text.h"
#include "stencil/codegen/projects/gpu_project.h"
#include "stencil/codegen/projects/table_texts.h"

#include <fmt/format.h>

namespace farfield::stencil::codegen::cuda {

namespace {

Text print_tables(const GpuProject& project, const EmitOptions& options) {
    const auto& program = project.program;
    const auto& plan = project.plan;
    Text text;
    text.add("// The program as tables.");
    text.add("const std::vector<Buffer> buffers = {");
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const auto& buffer = program.buffers[b];
        const auto& grid = program.grids[static_cast<std::size_t>(buffer.grid)];
        const auto& layout = plan.buffers[b];
        text.line("{{\"{}\", {}, {{{}, {}, {}}}, {}, {}, {}, {}, {}, {}, {}, {}}},",
                  escaped(project.names[b]), grid.rank, grid.shape[0], grid.shape[1], grid.shape[2],
                  layout.width, layout.rows * layout.planes, layout.pitch, layout.value_bytes, layout.copies,
                  is_output(program, options, static_cast<int>(b)), data_file_text(buffer, b),
                  launches_text(project.initial[b]));
    }
    text.add("};");
    add_common_tables(text, project, options);
    text.add("const std::vector<Pass> passes = {");
    for (const auto& pass : plan.passes) {
        text.line("// {}", pass.name);
        text.line("{{{}, {}, {{{}}}}},", pass.every, launches_text(pass.launches),
                  joined(pass.swapped, ", "));
    }
    text.add("};");
    text.add("const std::vector<Record> records = {");
    for (std::size_t r = 0; r < plan.records.size(); ++r)
        text.line("{{\"{}\", {}, {}}},", program.records[r].name, plan.records[r].every,
                  launches_text(plan.records[r].launches));
    text.add("};");
    text.line("const long long steps_a_pass = {};", plan.steps_a_pass);
    return text;
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
        "| `launch.h` | kernels, and what they are launched with |\n"
        "| `gpu.h` | memory of the GPU, launches, the clock |\n"
        "| `main.cu` | the fields, the loop over steps, files |\n",
        program.name.empty() ? "Stencil program" : program.name, project_mark, plan.description,
        options.steps);
    if (!options.program_text.empty()) text += "| `program.ff` | the program as it was written |\n";
    return text;
}

} // namespace

std::vector<EmittedFile> emit_cuda(const ir::Program& program, const EmitOptions& options) {
    const auto project = make_gpu_project(program, options.code, false);
    auto files = common_files(project, print_tables(project, options).str(), options);
    files.insert(files.begin(), {{"README.md", readme(project.program, project.plan, options)},
                                 {"CMakeLists.txt", std::string(emitted_cmake())},
                                 {"main.cu", std::string(emitted_main())},
                                 {"gpu.h", std::string(emitted_gpu())},
                                 {"launch.h", std::string(emitted_launch())},
                                 {"program.h", std::string(emitted_header())}});
    return files;
}

} // namespace farfield::stencil::codegen::cuda
