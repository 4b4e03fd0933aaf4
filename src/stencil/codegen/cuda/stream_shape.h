// Columns streamed along z, the fused pass of three dimensions. A block owns an x-y tile with its halo, as
// tiles do, and marches over the planes of a chunk of z. All kernels of all steps of a pass run in each turn
// of the march, kernel s of the pass at the plane m − lag(s), where m is the plane that comes from memory in
// this turn: by then all that it reads is there, and nothing of it has been overwritten. A thread keeps a
// window of planes of each field in registers; neighbours along x and y are exchanged in shared memory, those
// along z lie in the window.
#pragma once

#include "stencil/codegen/cuda/tile_shape.h"

#include <map>
#include <optional>
#include <vector>

namespace farfield::stencil::codegen::cuda {

/// A kernel in one of the steps of a pass.
struct Stage {
    int kernel = 0; ///< of TileShape::kernels
    int step = 0;
    int lag = 0; ///< planes behind the newest one
    /// Planes that new values of a buffer wait before they replace what the kernel itself still reads.
    std::map<int, int> waits;
};

/// The planes of a field that a thread has: numbers `newest` to `oldest` behind plane m of the march.
struct Window {
    int newest = 0; ///< comes from memory
    int oldest = 0;
    int final = 0; ///< no kernel of the pass changes it any more: it is written back
};

/// Values of a plane that threads show each other.
struct Exchange {
    int buffer = -1;
    int depth = 0;  ///< of the plane in the window
    int after = -1; ///< stage behind which the values are as wanted; −1: at the start of a turn
    bool mapped = false;
    std::vector<int> slot; ///< for each cell of a patch: its place, −1: none
    int slots = 0;
    int shared_offset = 0; ///< in each of the two halves
};

struct StreamShape {
    /// The x-y tile; along z `kept` is the chunk, and `low` and `high` are the planes around it. Of `fields`,
    /// `buffer` and `in_place` alone mean something.
    TileShape tile;
    std::vector<Stage> stages;
    std::map<int, Window> windows;
    std::vector<Exchange> exchanges;
    int shared_front = 0; ///< bytes in front and behind each exchange, where reads at the edges may go astray
    int shared_half = 0;  ///< exchanges alternate between two halves, so that a barrier a turn is enough

    /// The exchange that serves a read of a stage.
    const Exchange* exchange(std::size_t stage, int buffer, int z_offset) const;
    int last_final() const;
};

/// Columns for kernels that follow each other on a grid of three dimensions. Nothing where they do not fit:
/// reads beyond ends along z that are reflected or repeated, or too many planes for the registers.
/// @param steps a pass
std::optional<StreamShape> shape_columns(const ir::Program& program, const std::vector<int>& kernels,
                                         int steps, const std::array<int, 3>& block);

} // namespace farfield::stencil::codegen::cuda
