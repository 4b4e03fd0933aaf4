// Runs the front end of the stencil language on files.
#include "studies/stencil_program.h"

#include "io/file.h"
#include "stencil/describe.h"
#include "stencil/front_end.h"

#include <array>

namespace farfield {
namespace {

constexpr std::array<std::string_view, 3> stages{"lex", "parse", "names"}; // in the order of stencil::Stage

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
    const auto bytes = read_file(path);
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
    return check_of(stencil::FrontEnd(task.input.string(), text_of(task.input), parameters));
}

std::vector<std::string_view> stencil_stages() { return {stages.begin(), stages.end()}; }

std::string explain_stencil(const StencilTask& task, std::string_view stage, StencilCheck& check) {
    const auto parameters = parameters_of(task);
    const stencil::FrontEnd program(task.input.string(), text_of(task.input), parameters);
    check = check_of(program);
    if (stage == stages[0]) return program.explain(stencil::Stage::lex);
    if (stage == stages[1]) return program.explain(stencil::Stage::parse);
    return program.good() ? program.explain(stencil::Stage::names) : std::string();
}

} // namespace farfield
