#include "stencil/runtime/ranks/division.h"

#include "stencil/ir/reduction.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace farfield::stencil::ranks {
namespace {

// Firsts of `parts` shares of about the same cost, and the number of all; each has one at least.
std::vector<std::int64_t> cut(std::span<const std::int64_t> costs, std::int64_t parts) {
    const auto count = static_cast<std::int64_t>(costs.size());
    const auto total = std::accumulate(costs.begin(), costs.end(), std::int64_t{0});
    std::vector<std::int64_t> cuts(static_cast<std::size_t>(parts) + 1, count);
    cuts[0] = 0;
    std::int64_t before = 0; // cost of what lies below `next`
    std::int64_t next = 0;
    for (std::int64_t part = 1; part < parts; ++part) {
        if (total == 0) {
            cuts[static_cast<std::size_t>(part)] = count * part / parts;
            continue;
        }
        // Where the cost is nearer to the share's than one further.
        while (next < count &&
               2 * parts * before + parts * costs[static_cast<std::size_t>(next)] <= 2 * total * part)
            before += costs[static_cast<std::size_t>(next++)];
        cuts[static_cast<std::size_t>(part)] = next;
    }
    for (std::int64_t part = 1; part < parts; ++part) {
        auto& here = cuts[static_cast<std::size_t>(part)];
        here = std::clamp(here, cuts[static_cast<std::size_t>(part) - 1] + 1, count - (parts - part));
    }
    return cuts;
}

bool sums(const ir::Record& record) {
    return record.reduction == Reduction::sum || record.reduction == Reduction::mean;
}

} // namespace

std::array<int, 3> smallest_surface(const ir::Shape& shape, int rank, int ranks,
                                    const std::array<std::int64_t, 3>& most) {
    if (rank == 1) return {static_cast<int>(std::min<std::int64_t>(ranks, most[0])), 1, 1};
    if (rank == 2) return {1, static_cast<int>(std::min<std::int64_t>(ranks, most[1])), 1};
    for (int used = ranks; used > 1; --used) {
        std::array<int, 3> best = {1, 1, 1};
        std::int64_t least = -1;
        for (int planes = used; planes >= 1; --planes) {
            const int rows = used / planes;
            if (rows * planes != used || planes > most[2] || rows > most[1]) continue;
            const auto surface = shape[0] * ((planes - 1) * shape[1] + (rows - 1) * shape[2]);
            if (least >= 0 && surface >= least) continue;
            least = surface;
            best = {1, rows, planes};
        }
        if (least >= 0) return best;
    }
    return {1, 1, 1};
}

Division divide(const ir::Shape& shape, int rank, int ranks, const std::vector<std::int64_t>& costs,
                std::int64_t unit) {
    Division out;
    out.blocks.resize(static_cast<std::size_t>(ranks));
    const auto units = (shape[0] + unit - 1) / unit;
    out.parts = smallest_surface(shape, rank, ranks, {units, shape[1], shape[2]});
    std::size_t next = 0;
    if (rank == 1) {
        for (std::int64_t p = 0; p < out.parts[0]; ++p)
            out.blocks[next++] = {{units * p / out.parts[0] * unit, 0, 0},
                                  {std::min(units * (p + 1) / out.parts[0] * unit, shape[0]), 1, 1}};
        return out;
    }
    std::vector<std::int64_t> planes(static_cast<std::size_t>(shape[2]));
    for (std::size_t row = 0; row < costs.size(); ++row)
        planes[row / static_cast<std::size_t>(shape[1])] += costs[row];
    const auto along_z = cut(planes, out.parts[2]);
    for (int k = 0; k < out.parts[2]; ++k) {
        const auto low = along_z[static_cast<std::size_t>(k)],
                   high = along_z[static_cast<std::size_t>(k) + 1];
        std::vector<std::int64_t> rows(static_cast<std::size_t>(shape[1]));
        for (auto row = low * shape[1]; row < high * shape[1]; ++row)
            rows[static_cast<std::size_t>(row % shape[1])] += costs[static_cast<std::size_t>(row)];
        const auto along_y = cut(rows, out.parts[1]);
        for (int j = 0; j < out.parts[1]; ++j)
            out.blocks[next++] = {{0, along_y[static_cast<std::size_t>(j)], low},
                                  {shape[0], along_y[static_cast<std::size_t>(j) + 1], high}};
    }
    return out;
}

std::vector<Division> divide(const ir::Program& program, int ranks) {
    std::vector<Division> out;
    for (int g = 0; g < static_cast<int>(program.grids.size()); ++g) {
        const auto& grid = program.grids[static_cast<std::size_t>(g)];
        std::vector<std::int64_t> costs(static_cast<std::size_t>(grid.shape[1] * grid.shape[2]));
        for (const auto& kernel : program.kernels) {
            if (kernel.grid != g) continue;
            for (std::int64_t row = 0; row < kernel.cells->rows(); ++row)
                for (const auto& cells : kernel.cells->row(row))
                    costs[static_cast<std::size_t>(row)] += cells.last - cells.first;
        }
        const bool atoms = std::any_of(program.records.begin(), program.records.end(),
                                       [&](const auto& record) { return record.grid == g && sums(record); });
        out.push_back(divide(grid.shape, grid.rank, ranks, costs, atoms ? ir::atom_cells : 1));
    }
    return out;
}

} // namespace farfield::stencil::ranks
