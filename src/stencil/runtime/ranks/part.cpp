#include "stencil/runtime/ranks/part.h"

#include <algorithm>
#include <map>
#include <utility>

namespace farfield::stencil::ranks {
namespace {

using CellSetPtr = std::shared_ptr<const ir::CellSet>;

// Boxes that are a product of intervals, as `grown` makes them: rows of theirs are alike.
ir::CellSet set_of(const ir::Shape& shape, const std::vector<ir::CellBox>& boxes) {
    ir::CellSet::Builder builder(shape);
    for (std::int64_t z = 0; z < shape[2]; ++z)
        for (std::int64_t y = 0; y < shape[1]; ++y) {
            for (const auto& box : boxes) // those of a row come in the order of x
                if (y >= box.first[1] && y < box.last[1] && z >= box.first[2] && z < box.last[2])
                    builder.add({box.first[0], box.last[0]});
            builder.end_row();
        }
    return builder.finish();
}

/// Sets of cells within a region; sets that were one stay one.
class Within {
public:
    Within(const ir::Shape& shape, const std::vector<ir::CellBox>& boxes) : region_(set_of(shape, boxes)) {}
    CellSetPtr operator()(const CellSetPtr& cells) {
        auto& part = parts_[cells];
        if (!part) part = std::make_shared<const ir::CellSet>(intersection(*cells, region_));
        return part;
    }

private:
    ir::CellSet region_;
    std::map<CellSetPtr, CellSetPtr> parts_;
};

} // namespace

Part part_of(const ir::Program& program, const std::vector<Division>& divisions, const Halos& halos,
             int rank) {
    Part out;
    auto part = std::make_shared<ir::Program>(program);
    std::vector<Within> with_rims;
    std::vector<Within> blocks;
    for (std::size_t g = 0; g < program.grids.size(); ++g) {
        const auto& shape = program.grids[g].shape;
        const auto& block = divisions[g].blocks[static_cast<std::size_t>(rank)];
        with_rims.emplace_back(shape, grown(block, halos.kernels[g], shape, halos.wraps[g]));
        blocks.emplace_back(shape, grown(block, {}, shape, {}));
        part->held.push_back(grown(block, halos.held[g], shape, halos.wraps[g]));
    }
    for (auto& kernel : part->kernels) {
        auto& within = with_rims[static_cast<std::size_t>(kernel.grid)];
        kernel.cells = within(kernel.cells);
        for (auto& carry : kernel.carries) carry.cells = within(carry.cells);
    }
    // What does nothing here would keep the others out of common passes.
    std::erase_if(part->kernels, [](const ir::Kernel& kernel) {
        return kernel.cells->empty() &&
               std::all_of(kernel.carries.begin(), kernel.carries.end(),
                           [](const ir::Carry& carry) { return carry.cells->empty(); });
    });
    part->records.clear();
    for (std::size_t r = 0; r < program.records.size(); ++r) {
        auto record = program.records[r];
        record.cells = blocks[static_cast<std::size_t>(record.grid)](record.cells);
        if (record.cells->empty()) continue;
        part->records.push_back(std::move(record));
        out.records.push_back(static_cast<int>(r));
    }
    out.program = std::move(part);
    return out;
}

} // namespace farfield::stencil::ranks
