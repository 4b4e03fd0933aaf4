// A coarse lattice, and some rows of each set.
#include "stencil/analysis/stability/sample_cells.h"

#include "stencil/ir/op_info.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace farfield::stencil {
namespace {

class Sampler {
public:
    Sampler(const ir::Program& program, int grid)
        : program_(program), grid_(program.grids[static_cast<std::size_t>(grid)]) {
        std::size_t nodes = 0;
        for (std::size_t k = 0; k < program.kernels.size(); ++k) {
            if (program.kernels[k].grid != grid) continue;
            kernels_.push_back(static_cast<int>(k));
            nodes += program.kernels[k].code.nodes.size();
            for (const auto& node : program.kernels[k].code.nodes)
                if (node.op == ir::Op::load)
                    for (const int offset : node.offsets)
                        reach_ = std::max<std::int64_t>(reach_, std::abs(offset) + 1);
        }
        reach_ = std::min(reach_, most_reach);
        most_samples_ = std::max<std::size_t>(8, most_nodes / (nodes + 1));
    }

    void add_lattice() {
        constexpr std::array<std::int64_t, 4> points{1, 256, 16, 7};
        std::array<std::vector<std::int64_t>, 3> along;
        for (std::size_t a = 0; a < 3; ++a) {
            const auto n = grid_.shape[a];
            const auto count = std::min(n, points[static_cast<std::size_t>(grid_.rank)]);
            for (std::int64_t i = 0; i < count; ++i) along[a].push_back((2 * i + 1) * n / (2 * count));
            along[a].push_back(
                std::min(reach_ + 2, n - 1)); // the rims, where layers that absorb are thickest
            along[a].push_back(std::max(n - 3 - reach_, std::int64_t{0}));
        }
        for (const auto z : along[2])
            for (const auto y : along[1])
                for (const auto x : along[0]) add({x, y, z});
    }

    void add_some_of(const ir::CellSet& cells) {
        constexpr std::int64_t rows_wanted = 7;
        const auto& bounds = cells.bounds();
        if (bounds.empty()) return;
        const auto steps = [&](std::size_t axis) {
            return std::max<std::int64_t>(1, (bounds.last[axis] - bounds.first[axis]) / rows_wanted);
        };
        for (auto z = bounds.first[2]; z < bounds.last[2]; z += steps(2))
            for (auto y = bounds.first[1]; y < bounds.last[1]; y += steps(1)) {
                const auto row = cells.row(y + grid_.shape[1] * z);
                if (row.empty()) continue;
                const auto longest =
                    *std::max_element(row.begin(), row.end(), [](const auto& a, const auto& b) {
                        return a.last - a.first < b.last - b.first;
                    });
                add({(longest.first + longest.last) / 2, y, z});
                add({std::min(longest.first + reach_, longest.last - 1), y, z});
                add({std::max(longest.last - 1 - reach_, longest.first), y, z});
            }
    }

    std::vector<SampleCell> release() { return std::move(samples_); }

private:
    static constexpr std::int64_t most_reach = 8;
    static constexpr std::size_t most_nodes = 2'000'000; // looked at in all samples together

    void add(const Cell& cell) {
        if (samples_.size() >= most_samples_ || !seen_.insert(cell).second) return;
        SampleCell sample{cell, {}};
        for (const int k : kernels_) {
            const auto inside = share(*program_.kernels[static_cast<std::size_t>(k)].cells, cell);
            if (!inside) return;
            if (!*inside) continue;
            // It never runs in the neighbours that it reads, so no wave has the same step everywhere.
            if (ir::reads_neighbours_in_place(program_.kernels[static_cast<std::size_t>(k)])) return;
            sample.kernels.push_back(k);
        }
        if (!sample.kernels.empty()) samples_.push_back(std::move(sample));
    }

    // Whether the cells around are all in the set, or none; nothing where some are.
    std::optional<bool> share(const ir::CellSet& cells, const Cell& cell) const {
        ir::CellBox box;
        for (std::size_t a = 0; a < 3; ++a) {
            box.first[a] = std::max<std::int64_t>(cell[a] - reach_, 0);
            box.last[a] = std::min(cell[a] + reach_ + 1, grid_.shape[a]);
        }
        const bool inside = cells.contains(cell);
        for (auto z = box.first[2]; z < box.last[2]; ++z)
            for (auto y = box.first[1]; y < box.last[1]; ++y) {
                std::int64_t count = 0;
                for (const auto& interval : cells.row(y + grid_.shape[1] * z))
                    count += std::max<std::int64_t>(0, std::min(interval.last, box.last[0]) -
                                                           std::max(interval.first, box.first[0]));
                if (count != (inside ? box.last[0] - box.first[0] : 0)) return std::nullopt;
            }
        return inside;
    }

    const ir::Program& program_;
    const ir::Grid& grid_;
    std::vector<int> kernels_;
    std::int64_t reach_ = 2;
    std::size_t most_samples_ = 0;
    std::set<Cell> seen_; ///< sets share cells
    std::vector<SampleCell> samples_;
};

} // namespace

std::vector<SampleCell> sample_cells(const ir::Program& program, const Domains& domains, int grid) {
    Sampler sampler(program, grid);
    for (const auto& kernel : program.kernels)
        if (kernel.grid == grid) sampler.add_some_of(*kernel.cells);
    for (const auto& cases : domains.coefficients)
        for (const auto& set : cases)
            if (set->shape() == program.grids[static_cast<std::size_t>(grid)].shape)
                sampler.add_some_of(*set);
    sampler.add_lattice();
    return sampler.release();
}

} // namespace farfield::stencil
