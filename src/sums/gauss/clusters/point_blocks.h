// Blocks of neighbouring points, in any dimension: a set is halved across the longest axis of its box until
// it is a block.
#pragma once

#include "base/aligned.h"
#include "sums/points/block_lists.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

struct PointBlocks {
    RawVector<std::int32_t> order; ///< points of one block after those of another
    std::vector<BlockRange> range; ///< places in `order`
    std::vector<double> centre;    ///< B×d
    std::vector<double> radius;    ///< of a ball about the centre

    [[nodiscard]] std::size_t count() const { return range.size(); }
};

/// `points`: N×d. Blocks are full but for the last ones. @pre N < 2³¹
PointBlocks point_blocks(std::span<const double> points, int dimension, std::int32_t size, int threads);

} // namespace farfield
