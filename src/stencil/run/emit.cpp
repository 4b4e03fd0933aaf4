// From a program to the files of a project.
#include "stencil/run/emit.h"

#include "base/text.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "stencil/api/prepare.h"
#include "stencil/api/program_data.h"
#include "stencil/codegen/projects/emit.h"
#include "stencil/codegen/projects/emit_cuda.h"
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace farfield {
namespace {

namespace codegen = stencil::codegen;

struct Emitter {
    std::string_view target;
    std::vector<codegen::EmittedFile> (*emit)(const stencil::ir::Program&, const codegen::EmitOptions&);
    bool has_tiles = false;
    std::string_view launcher = {}; ///< what starts the project's program
};

constexpr std::array emitters{
    Emitter{"cpu", codegen::emit_cpu}, Emitter{"cuda", codegen::cuda::emit_cuda, true},
    Emitter{"mpi", codegen::emit_mpi, false, codegen::mpi_launcher},
    Emitter{"mpi-cuda", codegen::cuda::emit_mpi_cuda, false, codegen::mpi_launcher}};

constexpr std::int64_t default_steps = 1000;

std::vector<int> outputs_of(const stencil::Model& model) {
    std::vector<int> fields; // fields stand first among the buffers, in the model's order
    for (const auto& output : model.outputs)
        fields.insert(fields.end(), output.fields.begin(), output.fields.end());
    return fields;
}

bool has_content(const std::filesystem::path& path, std::string_view text) {
    return std::filesystem::is_regular_file(path) && as_text(read_file(path)) == text;
}

// Files that nobody can make again stay: a README.md or main.cpp is in many a folder.
void require_own_folder(const std::filesystem::path& folder, const std::vector<codegen::EmittedFile>& files) {
    const auto readme = folder / "README.md";
    const bool is_project = std::filesystem::is_regular_file(readme) &&
                            as_text(read_file(readme)).find(codegen::project_mark) != std::string_view::npos;
    if (is_project) return;
    for (const auto& file : files)
        if (const auto path = folder / file.name;
            std::filesystem::exists(path) && !has_content(path, file.content))
            throw InvalidArgument(
                fmt::format("'{}' is there already and is no part of a project that Farfield "
                            "wrote; choose another folder, or move it away",
                            path.string()));
}

const Emitter* emitter_of(std::string_view target) {
    const auto found = std::find_if(emitters.begin(), emitters.end(),
                                    [&](const Emitter& one) { return one.target == target; });
    if (found == emitters.end())
        throw InvalidArgument(fmt::format("target '{}' is not known; projects can be written for {}", target,
                                          joined(emit_targets(), ", ")));
    return &*found;
}

} // namespace

std::vector<std::string_view> emit_targets() {
    std::vector<std::string_view> names;
    names.reserve(std::size(emitters));
    for (const auto& emitter : emitters) names.push_back(emitter.target);
    return names;
}

std::string_view launcher_of(std::string_view target) { return emitter_of(target)->launcher; }

std::vector<std::filesystem::path> emit_stencil(const StencilEmitTask& task) {
    const auto emitter = emitter_of(task.target);
    if (!emitter->has_tiles && (task.time_tile > 1 || task.block != std::array<int, 3>{}))
        throw InvalidArgument(fmt::format("a project for the target {} takes one step a pass, row after row; "
                                          "leave --time-tile and --block out, or take the target cuda",
                                          task.target));
    std::vector<stencil::ParameterValue> parameters;
    for (const auto& text : task.program.parameters) parameters.push_back(stencil::parse_parameter(text));
    const auto bytes = read_file(task.program.input, lang::SourceText::longest + 4); // more is refused below
    codegen::EmitOptions options;
    options.program_text = as_text(bytes);
    stencil::FrontEnd front(task.program.input.string(), options.program_text, parameters);
    require_good(front.diagnostics());
    stencil::CompileOptions compile_options;
    compile_options.folder = task.program.input.parent_path();
    compile_options.allow_unstable = task.allow_unstable;
    const auto program = stencil::compile(front.model(), compile_options, front.diagnostics());
    require_good(front.diagnostics());
    options.steps = task.steps.value_or(steps_of(front.model()).value_or(default_steps));
    StencilOptions machine;
    machine.mask = task.mask;
    machine.time_tile = task.time_tile;
    machine.block = task.block;
    options.code = executor_options(machine);
    options.outputs = outputs_of(front.model());
    std::vector<std::filesystem::path> paths;
    const auto files = emitter->emit(*program, options);
    require_own_folder(task.folder, files);
    for (const auto& file : files) {
        paths.push_back(task.folder / file.name);
        write_file_atomically(paths.back(), file.content);
    }
    return paths;
}

} // namespace farfield
