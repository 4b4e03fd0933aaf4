// Cells of targets of a periodic sum that ranks compute some of each, so that all get all results.
#pragma once

#include "backend/threads/work_watch.h"
#include "sums/lattice/near_sum.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// Those of cell c are rows order[start[c]] … order[start[c + 1] − 1].
struct TargetCells {
    std::span<const std::int64_t> start, order;
};

/// What each target of a cell takes, and each cell that has one.
struct CellWork {
    double target = 1.0, cell = 0.0;
};

/// Of all cells those of one rank, about; 1 where there is no other (null).
double part_of_rank(const comm::Transport* ranks);

/// Starts as TargetCells has them, of cells that take as long as each other.
std::vector<std::int64_t> each_alike(std::int64_t cells);

/// Calls make(cell, at), from several threads, for the cells of this rank, by the points in them, until the
/// watch is stopped: it puts `numbers` numbers of the cell at `at`. Returns those of all cells, on all ranks.
/// @throws comm::RankFailed
std::vector<double> share_cell_numbers(comm::Transport* ranks, int threads,
                                       std::span<const std::int64_t> starts, std::int64_t numbers,
                                       const WorkWatch& watch,
                                       const std::function<void(std::size_t cell, double* at)>& make);

/// Calls compute(first, last) for the cells [first, last) of this rank, which are all where there is no other
/// (null). Then all ranks get the results of all, unless the watch of one has stopped it.
/// @throws comm::RankFailed
void share_cells(comm::Transport* ranks, const TargetCells& targets, const CellWork& work,
                 const LatticeResults& results, const WorkWatch& watch,
                 const std::function<void(std::int64_t, std::int64_t)>& compute);

} // namespace farfield
