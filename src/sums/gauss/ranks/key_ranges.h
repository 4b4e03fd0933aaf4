// Ranges of keys for ranks that each have some keys: cut where the keys of all ranks, in their order, fall
// into parts of about as many keys, or as much work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// Keys k with begin ≤ k < end. Those of ranks follow each other and leave none out.
struct KeyRange {
    std::uint64_t begin = 0, end = 0;
    friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

/// Where sorted keys that lie in a range begin and end.
struct KeyRows {
    std::int64_t begin = 0, end = 0;
    [[nodiscard]] std::int64_t size() const { return end - begin; }
};
KeyRows rows_in(std::span<const std::uint64_t> sorted, const KeyRange& range);

/// A range for each rank; with about as many keys each, if there are enough different ones. Equal keys are in
/// one range. @param sorted  this rank's keys  @throws comm::RankFailed
std::vector<KeyRange> ranges_of_equal_counts(comm::Transport& ranks, std::span<const std::uint64_t> sorted);

/// The same with about as much work each. `keys`: some of this rank's range, rising; those of all ranks are
/// rising from rank to rank. `work`: of each.
std::vector<KeyRange> ranges_of_equal_work(comm::Transport& ranks, std::span<const std::uint64_t> keys,
                                           std::span<const double> work);

} // namespace farfield
