// The intermediate representation as text.
#include "stencil/ir/dump.h"

#include "lang/types.h"
#include "stencil/front_end/syntax/words.h"
#include "stencil/ir/op_info.h"

#include <fmt/format.h>

#include <algorithm>

namespace farfield::stencil::ir {
namespace {

const Grid& grid_at(const Program& program, int grid) {
    return program.grids[static_cast<std::size_t>(grid)];
}

std::string offsets(const Grid& grid, const Node& node) {
    std::string out;
    for (std::size_t a = 0; a < static_cast<std::size_t>(grid.rank); ++a)
        if (node.offsets[a] != 0)
            out += fmt::format("{}{}{:+}", out.empty() ? "" : ", ", grid.axes[a], node.offsets[a]);
    return out.empty() ? "" : "[" + out + "]";
}

std::string constant_text(const Node& node) {
    if (node.type == ValueType::boolean) return node.integer != 0 ? "true" : "false";
    if (node.type == ValueType::integer) return fmt::format("{}", node.integer);
    return lang::real_text(node.real);
}

std::string node_text(const Program& program, const Grid& grid, const Node& node) {
    const auto i = static_cast<std::size_t>(std::max(node.index, 0));
    std::string out = fmt::format("{}.{}", name_of(node.op), name_of(node.type));
    switch (node.op) {
    case Op::constant:
        return out + " " + constant_text(node);
    case Op::uniform:
        return out + fmt::format(" {}", node.index);
    case Op::cell:
        return out + fmt::format(" {}", grid.axes[i]);
    case Op::load:
        return out + fmt::format(" {}{}", program.buffers[i].name, offsets(grid, node));
    default:
        break;
    }
    for (int k = 0; k < operands_of(node.op); ++k)
        out += fmt::format(" %{}", node.in[static_cast<std::size_t>(k)]);
    return out;
}

std::string set_text(const CellSet& set) {
    if (set.empty()) return "no cells";
    std::string box;
    const auto& bounds = set.bounds();
    for (std::size_t a = 0; a < 3; ++a)
        if (set.shape()[a] > 1)
            box += fmt::format("{}{}..{}", box.empty() ? "" : ", ", bounds.first[a], bounds.last[a] - 1);
    return fmt::format("{} cells {} [{}]", set.count(), set.is_box() ? "of" : "in", box);
}

std::string every(std::int64_t steps) { return steps == 1 ? "" : fmt::format(", every {}", steps); }

std::string buffer_text(const Program& program, const Buffer& buffer) {
    const auto& grid = grid_at(program, buffer.grid);
    constexpr std::array<std::string_view, 4> kinds{"field", "array", "coefficient", "data"};
    constexpr std::array<std::string_view, 5> boundaries{"none", "zero", "periodic", "mirror", "clamp"};
    auto out = fmt::format("{} {} on {} : {}", kinds[static_cast<std::size_t>(buffer.kind)], buffer.name,
                           grid.name, name_of(type_of(buffer.precision)));
    if (buffer.axis >= 0) out += fmt::format(" along {}", grid.axes[static_cast<std::size_t>(buffer.axis)]);
    if (buffer.copies > 1) out += fmt::format(", {} copies", buffer.copies);
    if (buffer.written) out += ", written";
    for (std::size_t a = 0; a < static_cast<std::size_t>(grid.rank); ++a)
        if (buffer.boundary[a] != Boundary::none)
            out += fmt::format(", {} in {}", boundaries[static_cast<std::size_t>(buffer.boundary[a])],
                               grid.axes[a]);
    out += '\n';
    if (!buffer.initial.nodes.empty()) out += to_text(program, buffer.initial, buffer.grid);
    return out;
}

std::string kernel_text(const Program& program, const Kernel& kernel) {
    auto out = fmt::format("kernel {} on {}{}: {}\n", kernel.name, grid_at(program, kernel.grid).name,
                           every(kernel.every), set_text(*kernel.cells));
    if (!kernel.predicate.nodes.empty())
        out += "  where\n" + to_text(program, kernel.predicate, kernel.grid) + "  do\n";
    out += to_text(program, kernel.code, kernel.grid);
    for (const auto& store : kernel.stores)
        out += fmt::format("    {}{} = %{}\n", program.buffers[static_cast<std::size_t>(store.buffer)].name,
                           store.other_copy ? " (other copy)" : "", store.node);
    for (const auto& carry : kernel.carries)
        out += fmt::format("    carry {}: {}\n", program.buffers[static_cast<std::size_t>(carry.buffer)].name,
                           set_text(*carry.cells));
    return out;
}

std::string record_text(const Program& program, const Record& record) {
    constexpr std::array<std::string_view, 5> names{"value", "sum", "mean", "max", "min"};
    auto out = fmt::format("record {} = {} on {}{}: {}\n", record.name,
                           names[static_cast<std::size_t>(record.reduction)],
                           grid_at(program, record.grid).name, every(record.every), set_text(*record.cells));
    if (!record.predicate.nodes.empty())
        out += "  where\n" + to_text(program, record.predicate, record.grid) + "  of\n";
    return out + to_text(program, record.code, record.grid);
}

} // namespace

std::string to_text(const Program& program, const Code& code, int grid, std::string_view indent) {
    std::string out;
    for (std::size_t i = 0; i < code.nodes.size(); ++i)
        out += fmt::format("{}%{} = {}\n", indent, i,
                           node_text(program, grid < 0 ? Grid{} : grid_at(program, grid), code.nodes[i]));
    if (code.result >= 0) out += fmt::format("{}result %{}\n", indent, code.result);
    return out;
}

std::string to_text(const Program& program) {
    std::string out;
    if (!program.name.empty()) out += fmt::format("program {}\n", program.name);
    out += fmt::format("dt = {}\n", lang::real_text(program.dt));
    for (const auto& grid : program.grids) {
        out += fmt::format("grid {}:", grid.name);
        for (std::size_t a = 0; a < static_cast<std::size_t>(grid.rank); ++a)
            out += fmt::format("{} {} cells in {}", a == 0 ? "" : ",", grid.shape[a], grid.axes[a]);
        out += '\n';
    }
    for (const auto& buffer : program.buffers) out += buffer_text(program, buffer);
    for (std::size_t i = 0; i < program.uniforms.size(); ++i)
        out += fmt::format("uniform {}\n", i) + to_text(program, program.uniforms[i], -1);
    for (const auto& kernel : program.kernels) out += kernel_text(program, kernel);
    for (const auto& record : program.records) out += record_text(program, record);
    return out;
}

} // namespace farfield::stencil::ir
