// Text with indentation, names, tables, and where buffers lie.
#include "stencil/codegen/cuda/writer.h"

#include "base/text.h"

#include <algorithm>
#include <cstring>

namespace farfield::stencil::codegen::cuda {

namespace {

constexpr std::size_t widest = 110;

// Continues a long line behind one of its last commas.
void put(std::string& text, std::string_view line, int depth) {
    auto indent = 4 * static_cast<std::size_t>(depth);
    while (indent + line.size() > widest && !line.starts_with("//")) {
        const auto comma = line.substr(0, widest - indent).rfind(", ");
        if (comma == std::string_view::npos) break;
        text.append(indent, ' ').append(line.substr(0, comma + 1)).append("\n");
        line.remove_prefix(comma + 2);
        indent = 4 * static_cast<std::size_t>(depth) + 8;
    }
    text.append(line.empty() ? 0 : indent, ' ').append(line).append("\n");
}

} // namespace

void Text::append(const Text& other) {
    lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end());
}

std::string Text::str() const {
    std::string text;
    int depth = 0;
    for (const auto& line : lines_) {
        if (line.starts_with('}')) --depth;
        put(text, line, std::max(depth, 0));
        if (line.ends_with('{')) ++depth;
    }
    return text;
}

void Parameters::add(const std::string& type, const std::string& name, ArgumentKind kind,
                     std::int64_t index) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    declarations.push_back(type + (type.back() == '*' ? "" : " ") + name);
    names.push_back(name);
    arguments.push_back({kind, index});
}

std::string Parameters::declaration() const { return joined(declarations, ", "); }
std::string Parameters::call() const { return joined(names, ", "); }

std::string now(const ir::Buffer& buffer) { return buffer.name + "_now"; }
std::string next(const ir::Buffer& buffer) { return buffer.name + "_next"; }
std::string computed(const ir::Buffer& buffer) { return buffer.name + "_computed"; }

void add_row_parameters(Parameters& parameters) {
    parameters.add("long long", "first_block", ArgumentKind::first_block);
    parameters.add("long long", "first_row", ArgumentKind::first_row);
    parameters.add("long long", "end_row", ArgumentKind::end_row);
}

int add_table(Plan& plan, std::string name, const void* data, std::size_t bytes) {
    std::vector<char> content(bytes);
    if (bytes > 0) std::memcpy(content.data(), data, bytes);
    for (std::size_t i = 0; i < plan.tables.size(); ++i)
        if (plan.tables[i].bytes == content && plan.tables[i].name == name) return static_cast<int>(i);
    plan.tables.push_back({std::move(name), std::move(content)});
    return static_cast<int>(plan.tables.size()) - 1;
}

ir::CellBox in_memory(const ir::Program& program, int grid) {
    const auto g = static_cast<std::size_t>(grid);
    auto all = ir::whole(program.grids[g].shape);
    if (program.held.empty()) return all;
    if (program.held[g].empty()) { // memory has an address, though nothing is in it
        all.last[1] = all.last[2] = 1;
        return all;
    }
    auto box = program.held[g].front();
    for (const auto& other : program.held[g])
        for (std::size_t a = 1; a < 3; ++a) {
            box.first[a] = std::min(box.first[a], other.first[a]);
            box.last[a] = std::max(box.last[a], other.last[a]);
        }
    box.first[0] = all.first[0];
    box.last[0] = all.last[0];
    return box;
}

std::int64_t rows_a_plane(const ir::Program& program, int grid) {
    const auto box = in_memory(program, grid);
    return box.last[1] - box.first[1];
}

BufferLayout layout_of(const ir::Program& program, const ir::Buffer& buffer) {
    const auto& shape = program.grids[static_cast<std::size_t>(buffer.grid)].shape;
    BufferLayout layout;
    layout.value_bytes = buffer.precision == Precision::single_precision ? 4 : 8;
    layout.copies = buffer.copies;
    if (buffer.axis >= 0) {
        layout.width = layout.pitch = shape[static_cast<std::size_t>(buffer.axis)];
        return layout;
    }
    layout.width = shape[0];
    const auto box = in_memory(program, buffer.grid);
    layout.first_row = box.first[1];
    layout.first_plane = box.first[2];
    layout.rows = box.last[1] - box.first[1];
    layout.planes = box.last[2] - box.first[2];
    // rows start on lines of 128 bytes, whatever the precision, so that all buffers of a grid share their
    // indices
    layout.pitch = shape[1] * shape[2] == 1 ? shape[0] : (shape[0] + 31) / 32 * 32;
    return layout;
}

std::int64_t pitch_of(const ir::Program& program, int grid) {
    ir::Buffer buffer;
    buffer.grid = grid;
    return layout_of(program, buffer).pitch;
}

std::string_view index_type(const ir::Program& program) {
    constexpr std::int64_t most = 2'000'000'000;
    for (const auto& grid : program.grids)
        if ((grid.shape[0] + 31) * grid.shape[1] * grid.shape[2] > most) return "long long";
    return "int";
}

} // namespace farfield::stencil::codegen::cuda
