// Rows of an array that ranks have between them, numbered from rank to rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

class RowsOfRanks {
public:
    RowsOfRanks() = default;
    RowsOfRanks(comm::Transport& ranks, std::int64_t mine);

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] std::int64_t all() const { return all_; }
    [[nodiscard]] std::int64_t mine() const { return counts_[static_cast<std::size_t>(rank_)]; }
    /// The first of this rank's.
    [[nodiscard]] std::int64_t first() const { return first_; }
    [[nodiscard]] bool has(std::int64_t row) const { return first_ <= row && row < first_ + mine(); }

    /// All rows of `width` numbers, on all ranks.
    [[nodiscard]] std::vector<double> gather(comm::Transport& ranks, std::span<const double> mine,
                                             std::int64_t width) const;
    /// The same of results, none where they are null: on all ranks or on none.
    [[nodiscard]] std::vector<double> gather(comm::Transport& ranks, const double* mine,
                                             std::int64_t width) const;
    /// This rank's of all rows; nothing where it is null.
    void keep_own(std::span<const double> all, std::int64_t width, double* own) const;
    /// Some rows, on all ranks. @param mine  of those the ones that this rank has, in their order
    [[nodiscard]] std::vector<double> gather(comm::Transport& ranks, std::span<const std::int64_t> rows,
                                             std::span<const double> mine, std::size_t width) const;

private:
    [[nodiscard]] std::size_t owner(std::int64_t row) const;

    int rank_ = 0;
    std::vector<std::int64_t> counts_{0};
    std::int64_t all_ = 0, first_ = 0;
};

} // namespace farfield
