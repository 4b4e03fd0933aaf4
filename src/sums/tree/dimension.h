// The dimension of what points lie on: 3 where they fill space, 2 on a surface, 1 on a line.
#pragma once

#include "base/aligned.h"

#include <cstdint>

namespace farfield {
namespace comm {
class Transport;
}

/// That of correlations (Grassberger & Procaccia, Physica D 9, 189, 1983), by pairs within a cell, of which
/// there are 2^D times fewer where cells are halved. Looked at where a point has `others` others in its cell;
/// 3 where no cells of any level hold so few, or all do.
/// @param keys  Morton keys, sorted  @param finest  the level that they stand for
/// @param ranks  not null: keys are those of this rank's points, and the dimension is that of all
double dimension_of(const RawVector<std::uint64_t>& keys, int finest, double others, comm::Transport* ranks,
                    int threads);

} // namespace farfield
