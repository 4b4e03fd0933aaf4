// Blocks of targets that ranks, which all have all points, take in turns.
#pragma once

#include "backend/comm/transport.h"
#include "backend/threads/work_watch.h"
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/direct/gauss/gauss_results.h"

#include <cstddef>
#include <vector>

namespace farfield {

class TurnsOfRanks {
public:
    /// @param ranks  null: this process is alone
    explicit TurnsOfRanks(comm::Transport* ranks) : ranks_(ranks) {}

    /// Neighbouring blocks take about as long, so that a turn is a few of them.
    [[nodiscard]] bool is_mine(std::size_t block) const {
        return ranks_ == nullptr || rank_of(block) == static_cast<std::size_t>(ranks_->rank());
    }
    /// Of all blocks this rank's, about.
    [[nodiscard]] double share() const { return ranks_ != nullptr ? 1.0 / ranks_->size() : 1.0; }
    /// Of what each rank has at its blocks, all ranks get all, unless the watch of one has stopped it.
    /// @param points  of a block: its targets
    template <class Points>
    void gather(std::size_t blocks, const Points& points, GaussSums& sums, const WorkWatch& watch) const {
        if (ranks_ == nullptr || comm::any_rank(*ranks_, watch.stopped())) return;
        std::vector<RowRanges> parts(static_cast<std::size_t>(ranks_->size()));
        for (std::size_t b = 0; b < blocks; ++b) {
            const BlockRange& some = points(b);
            parts[rank_of(b)].emplace_back(some.begin, some.end);
        }
        gather_rows(*ranks_, SumRows(sums.all_columns()), parts);
    }
    /// What all ranks have counted.
    [[nodiscard]] double sum(double mine) const {
        return ranks_ != nullptr ? comm::sum_of_ranks(*ranks_, mine) : mine;
    }

private:
    [[nodiscard]] std::size_t rank_of(std::size_t block) const {
        constexpr std::size_t blocks_of_a_turn = 4;
        return block / blocks_of_a_turn % static_cast<std::size_t>(ranks_->size());
    }

    comm::Transport* ranks_;
};

} // namespace farfield
