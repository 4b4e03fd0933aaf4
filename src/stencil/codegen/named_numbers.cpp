// Declarations of the numbers that have names.
#include "stencil/codegen/named_numbers.h"

#include "stencil/codegen/expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>
#include <vector>

namespace farfield::stencil::codegen {
namespace {

// The names that stand behind "scope::".
std::set<std::string, std::less<>> names_behind(std::string_view code, std::string_view scope) {
    std::set<std::string, std::less<>> out;
    for (auto at = code.find(scope); at != std::string_view::npos; at = code.find(scope, at + 1)) {
        const auto first = code.begin() + static_cast<std::ptrdiff_t>(at + scope.size());
        const auto last =
            std::find_if(first, code.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; });
        out.emplace(first, last);
    }
    return out;
}

} // namespace

std::string constant_text(const ir::Program& program, int index) {
    return "constant::" + program.constants[static_cast<std::size_t>(index)].name;
}

std::string uniform_name(const ir::Program& program, int index) {
    const auto i = static_cast<std::size_t>(index);
    const bool named = i < program.uniform_names.size() && !program.uniform_names[i].empty();
    return named ? program.uniform_names[i] : fmt::format("uniform_{}", index);
}

std::string uniform_place(const ir::Program& program, int index) {
    return "uniform::" + uniform_name(program, index);
}

std::string constant_declarations(const ir::Program& program, std::string_view code) {
    const auto used = names_behind(code, "constant::");
    if (used.empty()) return {};
    std::string text =
        "// Numbers of the program; its parameters have the values that they had when this was "
        "generated.\nnamespace constant {\n";
    for (const auto& [name, value] : program.constants) {
        if (!used.contains(name)) continue;
        const auto number = ir::ValueType::integer == value.type ? whole_number(value.integer)
                                                                 : finite_number(value.real, value.type);
        text += fmt::format("constexpr {} {} = {};", type_name(value.type), name, number);
        text += value.text != nullptr && *value.text != name ? fmt::format(" // {}\n", *value.text) : "\n";
    }
    return text + "} // namespace constant\n\n";
}

std::string uniform_declarations(const ir::Program& program, std::string_view code) {
    const auto used = names_behind(code, "uniform::");
    if (used.empty()) return {};
    std::string text =
        "// Places in a row of the clock: what is computed before each step, behind the time and "
        "the step's number.\nnamespace uniform {\n";
    for (std::size_t i = 0; i < program.uniforms.size(); ++i)
        if (const auto name = uniform_name(program, static_cast<int>(i)); used.contains(name))
            text += fmt::format("constexpr int {} = {};\n", name, i + 2);
    return text + "} // namespace uniform\n\n";
}

} // namespace farfield::stencil::codegen
