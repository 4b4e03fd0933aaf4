// Sorting by 64-bit keys: stable, with the same result for any number of threads.
#pragma once

#include "base/aligned.h"

#include <cstdint>
#include <span>

namespace farfield {

/// Keys in rising order, and where each stood before: keys[i] was number from[i]. Equal keys keep their
/// order.
struct SortedKeys {
    RawVector<std::uint64_t> keys;
    RawVector<std::int32_t> from;
};

/// Keys k with begin ≤ k < end.
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

/// @pre fewer than 2³¹ keys
SortedKeys sort_keys(RawVector<std::uint64_t> keys, int threads);

/// The same of runs that are in order, [parts[n], parts[n + 1]) each.
SortedKeys merge_keys(RawVector<std::uint64_t> keys, std::span<const std::int64_t> parts);

} // namespace farfield
