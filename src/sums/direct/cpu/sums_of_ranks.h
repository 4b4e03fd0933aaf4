// Rows of sums that ranks compute parts of, and exchange.
#pragma once

#include "sums/direct/cpu/tiles.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace farfield {
namespace comm {
class Message;
class Transport;
} // namespace comm

/// The arrays of sums that are there, as rows of one number from each.
class SumRows {
public:
    explicit SumRows(const TileSums& sums);
    explicit SumRows(std::vector<double*> arrays) : arrays_(std::move(arrays)) {}
    [[nodiscard]] std::int64_t arrays() const { return static_cast<std::int64_t>(arrays_.size()); }
    [[nodiscard]] double* array(std::int64_t number) const {
        return arrays_[static_cast<std::size_t>(number)];
    }
    /// Appends rows [begin, end), array by array.
    void pack(std::int64_t begin, std::int64_t end, std::vector<double>& numbers) const;
    /// Replaces them by the first of `numbers`. @returns the numbers that follow
    std::span<const double> unpack(std::int64_t begin, std::int64_t end,
                                   std::span<const double> numbers) const;

private:
    std::vector<double*> arrays_;
};

/// What one rank has that another needs, by that rank and in rising order.
struct RankHalo {
    std::vector<std::vector<std::int32_t>> to;   ///< of this rank's
    std::vector<std::vector<std::int32_t>> from; ///< of theirs
};

/// Ranges of rows.
using RowRanges = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Rank r has the rows of parts[r]: all ranks get all. @throws comm::RankFailed
void gather_rows(comm::Transport& ranks, const SumRows& rows, std::span<const RowRanges> parts);

/// Rank r gets the rows to[r] of `mine`, and what rank r sends becomes the rows from[r] of `theirs`; the two
/// may be the same. Under way from the beginning; the arrays must stay until it has ended.
/// @throws comm::RankFailed
class RowExchange {
public:
    RowExchange(comm::Transport& ranks, const SumRows& mine, std::vector<RowRanges> to, const SumRows& theirs,
                std::vector<RowRanges> from);
    RowExchange(const RowExchange&) = delete;
    RowExchange& operator=(const RowExchange&) = delete;
    ~RowExchange(); ///< of one that was not waited for: waits
    void end();

private:
    class Run;
    std::vector<RowRanges> to_, from_;
    std::vector<Run> leaving_, coming_; ///< of each rank and array
    std::vector<std::unique_ptr<comm::Message>> messages_;
};

void exchange_rows(comm::Transport& ranks, const SumRows& mine, std::vector<RowRanges> to,
                   const SumRows& theirs, std::vector<RowRanges> from);

/// Of consecutive tasks the first of each rank, and at the end their number: each rank has about as much
/// work.
std::vector<std::size_t> first_of_ranks(std::span<const double> work, int ranks);

/// The part of `count` tasks that is `rank`'s.
inline std::pair<std::int64_t, std::int64_t> tasks_of_rank(std::int64_t count, int rank, int ranks) {
    return {count * rank / ranks, count * (rank + 1) / ranks};
}

} // namespace farfield
