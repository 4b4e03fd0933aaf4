// Who sends which cells of which field to whom before a pass: pure data, the same for the rank that sends and
// the one that receives.
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/runtime/ranks/division.h"
#include "stencil/runtime/ranks/halos.h"

#include <vector>

namespace farfield::stencil::ranks {

/// Cells of a buffer's current copy.
struct BufferCells {
    int buffer = -1;
    ir::CellBox cells;
    friend bool operator==(const BufferCells&, const BufferCells&) = default;
};

/// All that goes from one rank to another, one after the other in one message.
struct Transfer {
    int peer = -1; ///< the other rank
    std::vector<BufferCells> pieces;
    friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// What one rank sends and receives; peers in rising order, none without pieces.
struct ExchangePlan {
    std::vector<Transfer> sends;
    std::vector<Transfer> receives;
};

/// The pieces that go from one rank to another.
std::vector<BufferCells> pieces_between(const ir::Program& program, const std::vector<Division>& divisions,
                                        const Halos& halos, int from, int to);
ExchangePlan plan_exchange(const ir::Program& program, const std::vector<Division>& divisions,
                           const Halos& halos, int rank);

} // namespace farfield::stencil::ranks
