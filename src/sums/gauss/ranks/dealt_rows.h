// Rows of arrays that ranks give, each some, and that go to the rank that has their key, in the order of
// keys; and what is computed for them, which comes back.
#pragma once

#include "base/aligned.h"
#include "base/work_array.h"
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/gauss/ranks/key_ranges.h"
#include "sums/tree/sort_keys.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

class DealtRows {
public:
    /// Calls are made by all ranks.
    /// @param given  keys of the rows that this rank gives  @param own  of each rank, in which a key lies
    /// once
    /// @param wide  of each rank, with its own: of these it gets the rows, too
    DealtRows(comm::Transport& ranks, SortedKeys given, std::span<const KeyRange> own,
              std::span<const KeyRange> wide, int threads);

    /// Of the rows that this rank has, rising. Rows of one key stand in the order of ranks and of their rows.
    [[nodiscard]] std::span<const std::uint64_t> keys() const { return keys_; }
    /// Those in its own range.
    [[nodiscard]] const KeyRows& own() const { return own_; }
    /// What comes back is for given row given_order()[i], i = 0, 1, …
    [[nodiscard]] std::span<const std::int32_t> given_order() const { return given_.from; }

    /// The rows that this rank has of given ones, `width` numbers each.
    void bring(std::span<const double> given, std::int64_t width, RawVector<double>& rows);
    /// Numbers at this rank's own rows, among as many as it has, come back to who gave them, in the order
    /// `given_order`.
    void bring_back(const SumRows& mine, const SumRows& given);

private:
    comm::Transport& ranks_;
    int threads_;
    SortedKeys given_;
    std::vector<KeyRows> to_, own_to_;     ///< of given rows, in their order: to each rank
    std::vector<KeyRows> from_, own_from_; ///< of rows as they arrive from each rank
    RawVector<std::uint64_t> keys_;
    RawVector<std::int32_t> place_; ///< row i arrives as number place_[i]
    KeyRows own_;
    WorkArray leaving_, arrived_; ///< their memory serves the next
};

} // namespace farfield
