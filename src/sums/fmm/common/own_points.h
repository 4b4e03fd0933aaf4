// Sources and targets of ranks that each give some of their own.
#pragma once

#include "sums/direct/cpu/rank_points.h"
#include "sums/fmm/common/rank_share.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <farfield/communicator.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace farfield {

class OwnPoints {
public:
    /// None where this process is alone, or all ranks give everything.
    static std::optional<OwnPoints> of(const Communicator& communicator);

    /// From now on sources with the same key are in the order of these numbers, wherever they are given: one
    /// of each of this rank's, different ones on all ranks.
    void number_sources(std::span<const std::int64_t> numbers) {
        numbers_.assign(numbers.begin(), numbers.end());
    }

    [[nodiscard]] std::span<const double> numbers() const { return numbers_; }

    /// Points go to the ranks that have their leaves, and the tree takes them. Called by all ranks.
    /// @param share  divided  @param sources  this rank's, N×3, as the tree was made of  @param targets  M×3;
    /// empty where they are the sources
    void take(const RankShare& share, Octree& tree, const NearLists& lists, std::span<const double> sources,
              std::span<const double> targets, int threads);

    [[nodiscard]] const RankPoints& sources() const { return *sources_; }
    /// The sources where they are the targets.
    [[nodiscard]] const RankPoints& targets() const { return targets_ ? *targets_ : *sources_; }

private:
    std::vector<double> numbers_; ///< of sources, or none
    std::optional<RankPoints> sources_, targets_;
};

} // namespace farfield
