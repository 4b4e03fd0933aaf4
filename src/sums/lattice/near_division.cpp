// Which targets a rank sums at: cells that follow each other.
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/lattice/near_sum.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace farfield {

void NearSum::divide(int rank, int ranks, double of_a_target) {
    const auto& start = sorted_targets().start;
    const auto cells = start.size() - 1;
    const auto cell_of_part = [&](std::size_t part) { return std::min(part * cells_of_a_part_, cells); };
    std::vector<double> work;
    work.reserve(pairs_of_part_.size());
    for (std::size_t part = 0; part < pairs_of_part_.size(); ++part) {
        const auto targets = start[cell_of_part(part + 1)] - start[cell_of_part(part)];
        work.push_back(static_cast<double>(pairs_of_part_[part]) +
                       of_a_target * static_cast<double>(targets));
    }
    const auto parts = first_of_ranks(work, ranks);
    firsts_.clear();
    for (const auto part : parts) firsts_.push_back(start[cell_of_part(part)]);
    const auto own = static_cast<std::size_t>(rank);
    own_pairs_ = std::accumulate(pairs_of_part_.begin() + static_cast<std::ptrdiff_t>(parts[own]),
                                 pairs_of_part_.begin() + static_cast<std::ptrdiff_t>(parts[own + 1]),
                                 std::int64_t{0});
    first_cell_ = static_cast<std::int64_t>(cell_of_part(parts[own]));
    last_cell_ = static_cast<std::int64_t>(cell_of_part(parts[own + 1]));
    divided_ = true;
}

LatticePoints NearSum::own_targets() const {
    LatticePoints out;
    const auto begin = sorted_targets().start[static_cast<std::size_t>(first_cell_)];
    const auto end = sorted_targets().start[static_cast<std::size_t>(last_cell_)];
    for (std::size_t k = 0; k < 3; ++k)
        out[k].assign(sorted_targets().points[k].begin() + begin, sorted_targets().points[k].begin() + end);
    return out;
}

} // namespace farfield
