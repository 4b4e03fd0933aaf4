// Ranges of keys for ranks that each have some keys: cut where the keys of all ranks, in their order, fall
// into parts of about as many keys, or as much work.
#pragma once

#include "sums/tree/sort_keys.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// A range for each rank, following each other; with about as many keys each, if there are enough different
/// ones. Equal keys are in one range. @param sorted  this rank's keys  @throws comm::RankFailed
std::vector<KeyRange> ranges_of_equal_counts(comm::Transport& ranks, std::span<const std::uint64_t> sorted);

/// The same with about as much work each. `keys`: some of this rank's range, rising; those of all ranks are
/// rising from rank to rank. `work`: of each.
std::vector<KeyRange> ranges_of_equal_work(comm::Transport& ranks, std::span<const std::uint64_t> keys,
                                           std::span<const double> work);

} // namespace farfield
