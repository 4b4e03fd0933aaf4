// M2M, M2L and L2L on a GPU: products of operators with the expansions that targets find at their senders.
// A warp takes a tile of targets of one group and 32 rows of their expansions, and goes through senders of
// the group, so that every number of a matrix serves all targets of the tile. The warps of a thread block
// share the targets: where expansions are long they take different rows, where they are short different
// senders, whose sums are added in order. So results do not depend on which warp is first.
#pragma once

#include "sums/fmm/plain_operators.h"
#include "sums/tree/tree_view.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

/// Targets [first, first + count), as numbers within a list or, without one, as cells.
struct TargetTile {
    std::int32_t first = 0;
    std::int32_t count = 0;
    std::int32_t group = 0; ///< an octant, or coarse_group
    std::int32_t level = 0;
};

constexpr int tile_targets = 32; ///< of a warp
constexpr int tile_rows = 32;

enum class Pass : std::uint8_t {
    up,     ///< from children; leaves keep what they have
    across, ///< from cells of the same level; replaces what targets had
    down    ///< from parents; adds
};

template <class Real>
struct TranslateTask {
    TreeView tree;
    const Real* from = nullptr; ///< expansions of all cells, `stride` numbers each
    Real* to = nullptr;
    int stride = 0;
    const TargetTile* tiles = nullptr;
    int tile_count = 0;
    const std::int32_t* list = nullptr;
    const Real* matrices = nullptr;
    const typename PlainOperators<Real>::Matrix* table = nullptr;
    int table_level = 0; ///< matrices of a level in `table`; 0: all levels have the same
    const Real* signs = nullptr;
    const Sender* senders = nullptr;
    const std::int32_t* first_sender = nullptr; ///< by group
    /// Thread blocks that share the senders of a tile, which are many on the coarsest level. If they are more
    /// than one, part k writes its sums to to[(k·part_cells + cell)·stride].
    int parts = 1;
    std::int64_t part_cells = 0;
};

/// Queues one pass. @param functions  of the largest matrix
template <class Real>
void translate(const TranslateTask<Real>& task, Pass pass, int functions, cudaStream_t stream);

} // namespace farfield::cuda
