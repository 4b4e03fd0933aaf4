// The near field of a periodic tree across the faces of its box: leaves act on others through images of their
// points, which are copied to where they lie. They are few, those of the leaves along the faces.
#pragma once

#include "base/aligned.h"
#include "sums/direct/cpu/blocks/block_sum.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace farfield {

class ImageBlocks {
public:
    /// For targets of leaves [begin, end), whose partners' points the tree has.
    void make(const Octree& tree, const NearLists& lists, std::pair<std::int64_t, std::int64_t> leaves,
              int threads);

    [[nodiscard]] std::int64_t pairs() const { return pairs_; } ///< directed
    /// Of the images.
    [[nodiscard]] const std::array<RawVector<double>, 3>& points() const { return points_; }
    /// From those of the tree's sources; good until the next call.
    [[nodiscard]] std::span<const double> strengths(std::span<const double> of_sources);
    /// Adds what images do to targets. @param task  as for the near field, with the images as sources
    void add(BlockSumTask task) const;

private:
    std::optional<OneSidedBlocks> blocks_; ///< where there are images
    std::array<RawVector<double>, 3> points_;
    RawVector<std::int32_t> of_; ///< the tree's source that each image is of
    RawVector<double> strengths_;
    std::int64_t pairs_ = 0;
};

} // namespace farfield
