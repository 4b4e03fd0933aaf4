// Rungs 1 and 2 of the ladder (README.md): what one writes first, in the types of the prepared points.
#pragma once

#include "backend/threads/work_watch.h"
#include "sums/direct/cpu/tiles.h"

namespace farfield {

/// Rung 1: one loop over targets, one over sources, bodies as structures, one sum in the type of the points.
/// Fills `tile.sums` for all its targets. The source range must be all of the sources.
void naive_sum(Precision precision, LoopOutputs outputs, const OneSidedTile& tile, WorkWatch* watch);

/// Rung 2: the same operations for each target in the same order, hence the same bits, but on arrays of
/// coordinates and for a few neighbouring targets at a time, which a compiler can put into vectors.
void soa_sum(Precision precision, LoopOutputs outputs, const OneSidedTile& tile, WorkWatch* watch);

} // namespace farfield
