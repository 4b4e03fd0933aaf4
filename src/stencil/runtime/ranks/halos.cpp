#include "stencil/runtime/ranks/halos.h"

#include "stencil/passes/dependences.h"

#include <algorithm>
#include <cstdlib>

namespace farfield::stencil::ranks {
namespace {

constexpr int most_steps = 16;
constexpr std::int64_t blocks_a_rim = 10; // a rim is at most that part of a block along an axis

void include(Width& width, const Width& other) {
    for (std::size_t a = 0; a < 3; ++a) {
        width.low[a] = std::max(width.low[a], other.low[a]);
        width.high[a] = std::max(width.high[a], other.high[a]);
    }
}

// What cells in a rim read.
Width beyond(const Width& rim, const Touch& touch) {
    Width out = rim;
    for (std::size_t a = 0; a < 3; ++a) {
        out.low[a] = std::max<std::int64_t>(0, rim.low[a] - touch.least[a]);
        out.high[a] = std::max<std::int64_t>(0, rim.high[a] + touch.most[a]);
    }
    return out;
}

void read(std::vector<Width>& needed, const std::vector<Touch>& touches, const Width& rim) {
    for (const auto& touch : touches)
        if (!touch.write) include(needed[static_cast<std::size_t>(touch.buffer)], beyond(rim, touch));
}

void reach(Width& held, const Width& rim, const ir::Code& code) {
    for (const auto& node : code.nodes) {
        if (node.op != ir::Op::load) continue;
        auto width = rim;
        for (std::size_t a = 0; a < 3; ++a) {
            width.low[a] += std::abs(node.offsets[a]);
            width.high[a] += std::abs(node.offsets[a]);
        }
        include(held, width);
    }
}

std::vector<ir::Interval> along(std::int64_t first, std::int64_t last, std::int64_t cells, bool wraps) {
    if (!wraps) return {{std::max<std::int64_t>(first, 0), std::min(last, cells)}};
    if (last - first >= cells) return {{0, cells}};
    const auto start = ((first % cells) + cells) % cells;
    const auto end = start + (last - first);
    if (end <= cells) return {{start, end}};
    return {{0, end - cells}, {start, cells}};
}

} // namespace

Halos halos_of(const ir::Program& program, int steps) {
    Halos out;
    out.buffers.resize(program.buffers.size());
    out.kernels.resize(program.grids.size());
    out.wraps.resize(program.grids.size());
    const CurrentCopies copies(program.buffers.size(), 0); // whichever are current, ranks read as far
    for (int step = 0; step < steps; ++step) {
        for (const auto& record : program.records) read(out.buffers, touches(program, record, copies), {});
        for (auto kernel = program.kernels.rbegin(); kernel != program.kernels.rend(); ++kernel) {
            Width rim;
            for (const auto& store : kernel->stores)
                include(rim, out.buffers[static_cast<std::size_t>(store.buffer)]);
            include(out.kernels[static_cast<std::size_t>(kernel->grid)], rim);
            read(out.buffers, touches(program, *kernel, copies), rim);
        }
    }
    out.held = out.kernels;
    for (const auto& kernel : program.kernels) {
        const auto g = static_cast<std::size_t>(kernel.grid);
        for (const auto* code : {&kernel.code, &kernel.predicate}) reach(out.held[g], out.kernels[g], *code);
    }
    for (const auto& record : program.records)
        for (const auto* code : {&record.code, &record.predicate})
            reach(out.held[static_cast<std::size_t>(record.grid)], {}, *code);
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const auto& buffer = program.buffers[b];
        const auto g = static_cast<std::size_t>(buffer.grid);
        include(out.held[g], out.buffers[b]);
        for (std::size_t a = 0; a < 3; ++a)
            if (buffer.boundary[a] == Boundary::periodic) out.wraps[g][a] = true;
    }
    return out;
}

std::vector<ir::CellBox> grown(const ir::CellBox& block, const Width& rim, const ir::Shape& shape,
                               const std::array<bool, 3>& wraps) {
    std::vector<ir::CellBox> out;
    if (block.empty()) return out;
    std::array<std::vector<ir::Interval>, 3> axes;
    for (std::size_t a = 0; a < 3; ++a)
        axes[a] = along(block.first[a] - rim.low[a], block.last[a] + rim.high[a], shape[a], wraps[a]);
    for (const auto& z : axes[2])
        for (const auto& y : axes[1])
            for (const auto& x : axes[0])
                out.push_back({{x.first, y.first, z.first}, {x.last, y.last, z.last}});
    return out;
}

int steps_a_pass(const ir::Program& program, const std::vector<Division>& divisions, int wanted) {
    const int most = wanted > 0 ? std::min(wanted, most_steps) : most_steps;
    for (int steps = most; steps > 1; --steps) {
        const auto halos = halos_of(program, steps);
        bool thin = true;
        for (std::size_t g = 0; g < divisions.size(); ++g)
            for (std::size_t a = 0; a < 3; ++a) {
                if (divisions[g].parts[a] == 1) continue;
                const auto block = program.grids[g].shape[a] / divisions[g].parts[a];
                const auto& rim = halos.kernels[g];
                // What is asked for may cost as much again.
                thin = thin && (wanted > 0 ? 1 : blocks_a_rim) * (rim.low[a] + rim.high[a]) <= block;
            }
        if (thin) return steps;
    }
    return 1;
}

} // namespace farfield::stencil::ranks
