// Tiles against sets of cells.
#include "stencil/codegen/cuda/tile_table.h"

#include <algorithm>

namespace farfield::stencil::codegen::cuda {

namespace {

enum class Share : std::uint8_t { none, some, all };

Share share_of(const ir::CellSet& cells, const ir::CellBox& box) {
    const auto common = intersection(cells.bounds(), box);
    if (common.empty()) return Share::none;
    if (cells.is_box()) return common == box ? Share::all : Share::some;
    bool any = false, all = common == box;
    for (auto k = common.first[2]; k < common.last[2]; ++k)
        for (auto j = common.first[1]; j < common.last[1]; ++j) {
            bool whole = false;
            const auto row = cells.row(j + cells.shape()[1] * k);
            auto at = std::partition_point(row.begin(), row.end(),
                                           [&](const ir::Interval& i) { return i.last <= common.first[0]; });
            if (at != row.end() && at->first < common.last[0]) {
                any = true;
                whole = at->first <= common.first[0] && at->last >= common.last[0];
            }
            all = all && whole;
            if (any && !all) return Share::some;
        }
    return all ? Share::all : any ? Share::some : Share::none;
}

// Sets whose cells some kernel of the program writes in a field of the tiles.
std::vector<const ir::CellSet*> writing_sets(const ir::Program& program, const TileShape& shape) {
    std::vector<const ir::CellSet*> sets;
    for (const auto& kernel : program.kernels)
        for (const auto& store : kernel.stores)
            if (shape.field(store.buffer) != nullptr &&
                std::find(sets.begin(), sets.end(), kernel.cells.get()) == sets.end())
                sets.push_back(kernel.cells.get());
    return sets;
}

/// @param there what is in memory of the grid.
Tile tile_at(const ir::Program& program, const TileShape& shape, const ir::CellBox& extended,
             const ir::CellBox& grid, const ir::CellBox& there, bool columns) {
    Tile tile;
    tile.x = static_cast<int>(extended.first[0]);
    tile.y = static_cast<int>(extended.first[1]);
    tile.z = static_cast<int>(extended.first[2]);
    const std::size_t axes = columns ? 2 : 3;
    bool inside = true;
    for (std::size_t a = 0; a < axes; ++a)
        inside = inside && extended.first[a] >= there.first[a] && extended.last[a] <= there.last[a];
    bool beyond_periodic = false;
    for (std::size_t a = 0; a < 3; ++a)
        beyond_periodic |= shape.wraps[a] && (extended.first[a] < 0 || extended.last[a] > grid.last[a]);
    tile.plain = inside ? 1 : 0;
    for (std::size_t k = 0; k < shape.kernels.size(); ++k) {
        const auto& kernel = program.kernels[static_cast<std::size_t>(shape.kernels[k])];
        auto looked_at = extended;
        if (columns) { // they look at z plane by plane
            looked_at.first[2] = std::max(looked_at.first[2], kernel.cells->bounds().first[2]);
            looked_at.last[2] = std::min(looked_at.last[2], kernel.cells->bounds().last[2]);
        }
        const auto share = beyond_periodic ? Share::some : share_of(*kernel.cells, looked_at);
        if (share != Share::none) tile.active_kernels |= std::uint32_t{1} << k;
        if (share == Share::some) tile.plain = 0;
    }
    return tile;
}

} // namespace

std::vector<Tile> tiles_of(const ir::Program& program, const TileShape& shape, bool every_tile,
                           bool columns) {
    const int number = program.kernels[static_cast<std::size_t>(shape.kernels[0])].grid;
    const auto grid = ir::whole(program.grids[static_cast<std::size_t>(number)].shape);
    const auto there = in_memory(program, number);
    const auto sets = writing_sets(program, shape);
    std::vector<Tile> tiles;
    std::array<std::int64_t, 3> at = {};
    for (at[2] = there.first[2]; at[2] < there.last[2]; at[2] += shape.kept[2])
        for (at[1] = there.first[1]; at[1] < there.last[1]; at[1] += shape.kept[1])
            for (at[0] = 0; at[0] < there.last[0]; at[0] += shape.kept[0]) {
                ir::CellBox kept, extended;
                for (std::size_t a = 0; a < 3; ++a) {
                    kept.first[a] = at[a];
                    kept.last[a] = std::min(at[a] + shape.kept[a], there.last[a]);
                    extended.first[a] = at[a] - shape.low[a];
                    extended.last[a] = extended.first[a] + shape.side[a];
                }
                const bool written = std::any_of(sets.begin(), sets.end(), [&](const ir::CellSet* cells) {
                    return share_of(*cells, kept) != Share::none;
                });
                const bool recorded = std::any_of(shape.records.begin(), shape.records.end(), [&](int r) {
                    return share_of(*program.records[static_cast<std::size_t>(r)].cells, kept) != Share::none;
                });
                if (written || recorded || every_tile)
                    tiles.push_back(tile_at(program, shape, extended, grid, there, columns));
            }
    return tiles;
}

} // namespace farfield::stencil::codegen::cuda
