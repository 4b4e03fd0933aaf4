// Halos, followed backwards through kernels; neighbours of patches.
#include "stencil/codegen/cuda/reach.h"

#include <algorithm>
#include <cstdlib>

namespace farfield::stencil::codegen::cuda {

namespace {

Reach shifted(Reach reach, const ir::Buffer& buffer, const ir::Node& load) {
    for (std::size_t a = 0; a < 3; ++a) {
        const int offset = load.offsets[a];
        // a reflected neighbour may lie on the other side
        const bool both = buffer.boundary[a] == Boundary::mirror;
        reach.low[a] += both ? std::abs(offset) : std::max(0, -offset);
        reach.high[a] += both ? std::abs(offset) : std::max(0, offset);
    }
    return reach;
}

} // namespace

void Reach::cover(const Reach& other) {
    for (std::size_t a = 0; a < 3; ++a) {
        low[a] = std::max(low[a], other.low[a]);
        high[a] = std::max(high[a], other.high[a]);
    }
}

const ir::Kernel& kernel_of(const ir::Program& program, int number) {
    return program.kernels[static_cast<std::size_t>(number)];
}
const ir::Buffer& buffer_of(const ir::Program& program, int number) {
    return program.buffers[static_cast<std::size_t>(number)];
}

int words_of(const ir::Program& program, int buffer) {
    return buffer_of(program, buffer).precision == Precision::single_precision ? 1 : 2;
}

Reaches written_by(const ir::Program& program, const std::vector<int>& kernels) {
    Reaches written;
    for (const int k : kernels)
        for (const auto& store : kernel_of(program, k).stores) written[store.buffer];
    return written;
}

Reaches reach_of(const ir::Program& program, const std::vector<int>& kernels, const std::vector<int>& records,
                 int steps) {
    auto reaches = written_by(program, kernels);
    const auto read = [&](const ir::Code& code, const Reach& computed) {
        for (const auto& node : code.nodes)
            if (node.op == ir::Op::load && reaches.contains(node.index))
                reaches[node.index].cover(shifted(computed, buffer_of(program, node.index), node));
    };
    for (int step = 0; step < steps; ++step) {
        for (const int r : records) read(program.records[static_cast<std::size_t>(r)].code, {});
        for (auto k = kernels.rbegin(); k != kernels.rend(); ++k) {
            const auto& kernel = kernel_of(program, *k);
            Reach computed;
            for (const auto& store : kernel.stores) computed.cover(reaches[store.buffer]);
            read(kernel.code, computed);
        }
    }
    return reaches;
}

bool is_mapped(const ir::Program& program, const ir::Buffer& buffer, const ir::CellBox& box,
               const Sides& offsets, std::size_t axis) {
    const auto& extent = program.grids[static_cast<std::size_t>(buffer.grid)].shape;
    const bool leaves = box.first[axis] + offsets[axis] < 0 || box.last[axis] + offsets[axis] > extent[axis];
    const auto rule = buffer.boundary[axis];
    return leaves && (rule == Boundary::clamp || rule == Boundary::mirror);
}

std::vector<int> shown_cells(const Sides& patch, const Sides& offsets) {
    std::vector<int> cells;
    for (int p = 0; p < patch[0] * patch[1] * patch[2]; ++p) {
        // the cell whose neighbour this one is
        const Sides reader = {p % patch[0] - offsets[0], p / patch[0] % patch[1] - offsets[1],
                              p / (patch[0] * patch[1]) - offsets[2]};
        bool other = false;
        for (std::size_t a = 0; a < 3; ++a) other |= reader[a] < 0 || reader[a] >= patch[a];
        if (other) cells.push_back(p);
    }
    return cells;
}

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

} // namespace farfield::stencil::codegen::cuda
