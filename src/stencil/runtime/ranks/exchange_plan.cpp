#include "stencil/runtime/ranks/exchange_plan.h"

#include <utility>

namespace farfield::stencil::ranks {

std::vector<BufferCells> pieces_between(const ir::Program& program, const std::vector<Division>& divisions,
                                        const Halos& halos, int from, int to) {
    std::vector<BufferCells> out;
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const auto& buffer = program.buffers[b];
        if (!buffer.written || halos.buffers[b] == Width{}) continue;
        const auto g = static_cast<std::size_t>(buffer.grid);
        const auto& blocks = divisions[g].blocks;
        for (const auto& box : grown(blocks[static_cast<std::size_t>(to)], halos.buffers[b],
                                     program.grids[g].shape, halos.wraps[g])) {
            const auto cells = intersection(box, blocks[static_cast<std::size_t>(from)]);
            if (!cells.empty()) out.push_back({static_cast<int>(b), cells});
        }
    }
    return out;
}

ExchangePlan plan_exchange(const ir::Program& program, const std::vector<Division>& divisions,
                           const Halos& halos, int rank) {
    ExchangePlan plan;
    const int ranks = divisions.empty() ? 0 : static_cast<int>(divisions.front().blocks.size());
    for (int peer = 0; peer < ranks; ++peer) {
        if (peer == rank) continue;
        if (auto pieces = pieces_between(program, divisions, halos, rank, peer); !pieces.empty())
            plan.sends.push_back({peer, std::move(pieces)});
        if (auto pieces = pieces_between(program, divisions, halos, peer, rank); !pieces.empty())
            plan.receives.push_back({peer, std::move(pieces)});
    }
    return plan;
}

} // namespace farfield::stencil::ranks
