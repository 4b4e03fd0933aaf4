// Runs the compiler of the stencil language on files, as far as it needs no target.
#include "stencil/run/inspect.h"

#include "io/file.h"
#include "stencil/api/prepare.h"
#include "stencil/codegen/projects/generated_code.h"
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"
#include "stencil/front_end/model/describe.h"
#include "stencil/ir/dump.h"

#include <array>

namespace farfield {
namespace {

constexpr std::array<std::string_view, 3> stages{"lex", "parse", "names"}; // in the order of stencil::Stage

constexpr std::string_view code_stage = "code"; // after the passes

std::vector<stencil::ParameterValue> parameters_of(const StencilTask& task) {
    std::vector<stencil::ParameterValue> out;
    for (const auto& text : task.parameters) {
        auto value = stencil::parse_parameter(text);
        std::erase_if(out,
                      [&](const auto& other) { return other.name == value.name; }); // the last one counts
        out.push_back(std::move(value));
    }
    return out;
}

std::string text_of(const std::filesystem::path& path) {
    const auto bytes = read_file(path, lang::SourceText::longest + 4); // more is refused by the front end
    return std::string(as_text(bytes));
}

StencilCheck check_of(const stencil::FrontEnd& program) {
    const auto& diagnostics = program.diagnostics();
    return {to_text(diagnostics), to_json(diagnostics),
            program.good() ? stencil::summary(program.model()) : "", diagnostics.errors(),
            diagnostics.warnings()};
}

} // namespace

StencilCheck check_stencil(const StencilTask& task) {
    const auto parameters = parameters_of(task);
    stencil::FrontEnd program(task.input.string(), text_of(task.input), parameters);
    if (program.good()) {
        stencil::CompileOptions options;
        options.folder = task.input.parent_path();
        options.progress = task.progress;
        options.optimise = false;
        stencil::compile(program.model(), options, program.diagnostics());
    }
    return check_of(program);
}

std::vector<std::string_view> stencil_stages() {
    std::vector<std::string_view> out{stages.begin(), stages.end()};
    for (const auto pass : stencil::compiler_passes()) out.push_back(pass);
    out.push_back(code_stage);
    return out;
}

std::string explain_stencil(const StencilTask& task, std::string_view stage, StencilCheck& check,
                            const StencilCode& code) {
    const auto parameters = parameters_of(task);
    stencil::FrontEnd program(task.input.string(), text_of(task.input), parameters);
    std::string text;
    if (stage == stages[0]) {
        text = program.explain(stencil::Stage::lex);
    } else if (stage == stages[1]) {
        text = program.explain(stencil::Stage::parse);
    } else if (stage == stages[2]) {
        if (program.good()) text = program.explain(stencil::Stage::names);
    } else if (program.good()) {
        stencil::CompileOptions options;
        options.folder = task.input.parent_path();
        options.progress = task.progress;
        options.after_pass = [&](std::string_view pass, const stencil::ir::Program& so_far) {
            if (pass == stage) text = to_text(so_far);
        };
        const auto compiled = stencil::compile(program.model(), options, program.diagnostics());
        if (stage == code_stage && compiled)
            text = stencil::codegen::generated_code(*compiled, code.target, executor_options(code.options));
    }
    check = check_of(program);
    return text;
}

} // namespace farfield
