#include "sums/points/rows_of_ranks.h"

#include "backend/comm/transport.h"

#include <algorithm>
#include <numeric>

namespace farfield {

RowsOfRanks::RowsOfRanks(comm::Transport& ranks, std::int64_t mine)
    : rank_(ranks.rank()), counts_(comm::all_values(ranks, mine)),
      all_(std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0})),
      first_(std::accumulate(counts_.begin(), counts_.begin() + rank_, std::int64_t{0})) {}

std::vector<double> RowsOfRanks::gather(comm::Transport& ranks, std::span<const double> mine,
                                        std::int64_t width) const {
    std::vector<std::int64_t> numbers;
    numbers.reserve(counts_.size());
    for (const auto count : counts_) numbers.push_back(count * width);
    return comm::all_gathered(ranks, mine, numbers);
}

std::vector<double> RowsOfRanks::gather(comm::Transport& ranks, const double* mine_of_all,
                                        std::int64_t width) const {
    if (mine_of_all == nullptr) return {};
    return gather(ranks, std::span(mine_of_all, static_cast<std::size_t>(mine() * width)), width);
}

void RowsOfRanks::keep_own(std::span<const double> all, std::int64_t width, double* own) const {
    if (own != nullptr) std::copy_n(all.begin() + first_ * width, mine() * width, own);
}

std::vector<double> RowsOfRanks::gather(comm::Transport& ranks, std::span<const std::int64_t> rows,
                                        std::span<const double> mine, std::size_t width) const {
    std::vector<std::vector<std::size_t>> places(counts_.size()); // by rank
    for (std::size_t k = 0; k < rows.size(); ++k) places[owner(rows[k])].push_back(k);
    std::vector<std::int64_t> numbers;
    numbers.reserve(places.size());
    for (const auto& of_rank : places) numbers.push_back(static_cast<std::int64_t>(of_rank.size() * width));
    const auto all = comm::all_gathered(ranks, mine, numbers);
    std::vector<double> out(rows.size() * width);
    auto next = all.begin();
    for (const auto& of_rank : places)
        for (const auto place : of_rank) {
            std::copy_n(next, width, out.begin() + static_cast<std::ptrdiff_t>(place * width));
            next += static_cast<std::ptrdiff_t>(width);
        }
    return out;
}

std::size_t RowsOfRanks::owner(std::int64_t row) const {
    std::size_t rank = 0;
    for (std::int64_t end = counts_[0]; row >= end; end += counts_[rank]) ++rank;
    return rank;
}

} // namespace farfield
