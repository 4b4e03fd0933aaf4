// Extents from the spans of kernels and the offsets of their loads.
#include "stencil/runtime/cpu/extents.h"

#include "stencil/ir/row_evaluator.h"

#include <algorithm>

namespace farfield::stencil::cpu {
namespace {

void include(ir::Interval& extent, ir::Interval cells) {
    if (cells.last <= cells.first) return;
    extent = extent.last <= extent.first
                 ? cells
                 : ir::Interval{std::min(extent.first, cells.first), std::max(extent.last, cells.last)};
}

class Finder {
public:
    explicit Finder(const ir::Program& program) : program_(program), extents_(program.buffers.size()) {
        for (std::size_t b = 0; b < extents_.size(); ++b) {
            const auto& shape = program.grids[program.buffers[b].grid].shape;
            if (program.buffers[b].axis < 0)
                extents_[b].resize(static_cast<std::size_t>(shape[1] * shape[2]));
        }
    }

    void add(const ir::CellSet& cells, const ir::Code& code) {
        for (const auto& node : code.nodes)
            if (node.op == ir::Op::load) add(cells, node.index, node.offsets);
    }
    /// What all cells of a set touch at an offset.
    void add(const ir::CellSet& cells, int buffer, const std::array<int, 3>& offsets) {
        auto& extents = extents_[buffer];
        if (extents.empty()) return;
        const auto& b = program_.buffers[buffer];
        const auto& shape = program_.grids[b.grid].shape;
        const auto& box = cells.bounds();
        for (auto z = box.first[2]; z < box.last[2]; ++z)
            for (auto y = box.first[1]; y < box.last[1]; ++y) {
                const auto spans = cells.row(y + shape[1] * z);
                if (spans.empty()) continue;
                const auto row = ir::bounded_index(y + offsets[1], shape[1], b.boundary[1]);
                const auto plane = ir::bounded_index(z + offsets[2], shape[2], b.boundary[2]);
                if (row < 0 || plane < 0) continue; // zeros, which lie elsewhere
                ir::Interval touched{spans.front().first + offsets[0], spans.back().last + offsets[0]};
                if (touched.first < 0 || touched.last > shape[0]) touched = {0, shape[0]};
                include(extents[row + shape[1] * plane], touched);
            }
    }

    std::vector<Extents> release() { return std::move(extents_); }

private:
    const ir::Program& program_;
    std::vector<Extents> extents_;
};

} // namespace

std::vector<Extents> extents_of(const ir::Program& program) {
    Finder finder(program);
    for (const auto& kernel : program.kernels) {
        finder.add(*kernel.cells, kernel.code);
        for (const auto& store : kernel.stores) finder.add(*kernel.cells, store.buffer, {});
        for (const auto& carry : kernel.carries) finder.add(*carry.cells, carry.buffer, {});
    }
    for (const auto& record : program.records) finder.add(*record.cells, record.code);
    return finder.release();
}

} // namespace farfield::stencil::cpu
