// Which kernels to join around others; whether two can be one is the fusing pass's judgement.
#include "stencil/runtime/cpu/joins.h"

#include "stencil/passes/passes.h"

#include <algorithm>

namespace farfield::stencil::cpu {
namespace {

bool swaps(const ir::Kernel& kernel) {
    return std::any_of(kernel.stores.begin(), kernel.stores.end(),
                       [](const ir::Store& store) { return store.other_copy; });
}

// Worth it where the others have few of the rows.
bool is_small(const ir::Kernel& between, const ir::Kernel& around) {
    const auto& box = between.cells->bounds();
    const auto& rows = around.cells->bounds();
    const auto slabs = [](const ir::CellBox& b) {
        return (b.last[1] - b.first[1]) * (b.last[2] - b.first[2]);
    };
    return between.cells->empty() || 4 * slabs(box) < slabs(rows);
}

} // namespace

ir::Program without_values(const ir::Program& program) {
    ir::Program out;
    out.name = program.name;
    out.grids = program.grids;
    for (const auto& b : program.buffers)
        out.buffers.push_back({b.name,
                               b.kind,
                               b.grid,
                               b.axis,
                               b.precision,
                               b.stagger,
                               b.boundary,
                               b.copies,
                               b.written,
                               {},
                               {}});
    out.uniforms = program.uniforms;
    out.constants = program.constants;
    out.uniform_names = program.uniform_names;
    out.kernels = program.kernels;
    out.records = program.records;
    out.dt = program.dt;
    return out;
}

std::vector<Join> find_joins(const ir::Program& program) {
    std::vector<Join> joins;
    auto pair = without_values(program);
    pair.records.clear();
    const auto& kernels = program.kernels;
    std::vector<bool> used(kernels.size(), false);
    for (std::size_t first = 0; first < kernels.size(); ++first) {
        if (used[first] || swaps(kernels[first])) continue;
        for (auto second = first + 1; second < kernels.size(); ++second) {
            const bool between_all_small = std::all_of(
                kernels.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                kernels.begin() + static_cast<std::ptrdiff_t>(second), [&](const ir::Kernel& between) {
                    return between.grid == kernels[first].grid && !swaps(between) &&
                           is_small(between, kernels[first]);
                });
            if (!between_all_small) break;
            if (used[second] || swaps(kernels[second])) continue;
            pair.kernels = {kernels[first], kernels[second]};
            fuse(pair);
            if (pair.kernels.size() != 1) continue;
            joins.push_back({static_cast<int>(first), static_cast<int>(second), pair.kernels.front()});
            used[first] = used[second] = true;
            break;
        }
    }
    return joins;
}

} // namespace farfield::stencil::cpu
