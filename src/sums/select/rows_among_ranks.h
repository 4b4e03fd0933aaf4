// Rows that ranks have between them, numbered from rank to rank.
#pragma once

#include "backend/comm/transport.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace farfield {

class RowsAmongRanks {
public:
    RowsAmongRanks(comm::Transport& ranks, std::int64_t mine)
        : ranks_(ranks), counts_(comm::all_values(ranks, mine)),
          first_(std::accumulate(counts_.begin(), counts_.begin() + ranks.rank(), std::int64_t{0})),
          all_(std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0})) {}

    [[nodiscard]] std::int64_t all() const { return all_; }
    [[nodiscard]] std::int64_t first() const { return first_; } ///< of this rank
    [[nodiscard]] bool has(std::int64_t row) const {
        return first_ <= row && row < first_ + counts_[static_cast<std::size_t>(ranks_.rank())];
    }

    /// Numbers of some rows, `width` each, on all ranks. @param mine  of those rows that this rank has, in
    /// the order of `rows`
    [[nodiscard]] std::vector<double> in_order(std::span<const std::int64_t> rows,
                                               std::span<const double> mine, std::size_t width) const {
        std::vector<std::vector<std::size_t>> places(counts_.size()); // by rank
        for (std::size_t k = 0; k < rows.size(); ++k) places[owner(rows[k])].push_back(k);
        std::vector<std::int64_t> numbers;
        for (const auto& of_rank : places)
            numbers.push_back(static_cast<std::int64_t>(of_rank.size() * width));
        const auto all = comm::all_gathered(ranks_, mine, numbers);
        std::vector<double> out(rows.size() * width);
        auto next = all.begin();
        for (const auto& of_rank : places)
            for (const auto place : of_rank) {
                std::copy_n(next, width, out.begin() + static_cast<std::ptrdiff_t>(place * width));
                next += static_cast<std::ptrdiff_t>(width);
            }
        return out;
    }

private:
    [[nodiscard]] std::size_t owner(std::int64_t row) const {
        std::size_t rank = 0;
        for (std::int64_t end = counts_[0]; row >= end; end += counts_[rank]) ++rank;
        return rank;
    }

    comm::Transport& ranks_;
    std::vector<std::int64_t> counts_;
    std::int64_t first_, all_;
};

} // namespace farfield
