#include "stencil/codegen/projects/table_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace farfield::stencil::codegen {
namespace {

std::string_view boundary_name(Boundary boundary) {
    switch (boundary) {
    case Boundary::zero:
        return "zero";
    case Boundary::periodic:
        return "periodic";
    case Boundary::mirror:
        return "mirror";
    case Boundary::clamp:
        return "clamp";
    default:
        return "none";
    }
}

std::string file_name_of(std::size_t buffer) { return fmt::format("data_{}.f64", buffer); }

} // namespace

std::string boundaries_text(const ir::Buffer& buffer) {
    std::string text;
    for (const auto boundary : buffer.boundary)
        text += fmt::format("{}Boundary::{}", text.empty() ? "" : ", ", boundary_name(boundary));
    return text;
}

bool is_output(const ir::Program& program, const EmitOptions& options, int buffer) {
    if (program.buffers[static_cast<std::size_t>(buffer)].kind != ir::BufferKind::field) return false;
    const auto& list = options.outputs;
    return list.empty() || std::find(list.begin(), list.end(), buffer) != list.end();
}

std::string data_file_text(const ir::Buffer& buffer, std::size_t number) {
    return buffer.initial.nodes.empty() ? fmt::format("\"{}\"", file_name_of(number)) : "nullptr";
}

void add_data_files(const ir::Program& program, std::vector<EmittedFile>& files) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const auto& buffer = program.buffers[b];
        if (!buffer.initial.nodes.empty()) continue;
        std::string bytes(buffer.values.size() * sizeof(double), '\0');
        std::memcpy(bytes.data(), buffer.values.data(), bytes.size());
        files.push_back({file_name_of(b), std::move(bytes)});
    }
}

std::string escaped(const std::string& name) {
    std::string text;
    for (const char c : name) {
        if (c == '"' || c == '\\') text += '\\';
        text += c == '\n' ? ' ' : c;
    }
    return text;
}

} // namespace farfield::stencil::codegen
