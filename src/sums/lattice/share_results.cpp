#include "sums/lattice/share_results.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "base/aligned.h"
#include "sums/direct/cpu/sums_of_ranks.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace farfield {
namespace {

std::vector<std::int64_t> first_cells(const comm::Transport& ranks, const TargetCells& targets,
                                      const CellWork& work) {
    std::vector<double> of_cells;
    for (std::size_t c = 0; c + 1 < targets.start.size(); ++c) {
        const auto count = static_cast<double>(targets.start[c + 1] - targets.start[c]);
        of_cells.push_back(count > 0.0 ? work.cell + work.target * count : 0.0);
    }
    const auto firsts = first_of_ranks(of_cells, ranks.size());
    return {firsts.begin(), firsts.end()};
}

/// Rank r has the rows order[begins[r]] … order[begins[r + 1] − 1] of `values`, if there are any.
void share_rows_in_order(comm::Transport& ranks, std::span<const std::int64_t> order,
                         std::span<const std::int64_t> begins, double* values, std::int64_t width) {
    if (values == nullptr) return;
    RawVector<double> sorted(order.size() * static_cast<std::size_t>(width));
    const auto each_row = [&](std::int64_t begin, std::int64_t end, const auto& copy) {
        for (auto i = begin; i < end; ++i)
            copy(values + order[static_cast<std::size_t>(i)] * width, sorted.data() + i * width);
    };
    const auto rank = static_cast<std::size_t>(ranks.rank());
    each_row(begins[rank], begins[rank + 1],
             [&](const double* row, double* at) { std::copy_n(row, width, at); });
    comm::share_rows(ranks, sorted, width, begins);
    const auto take = [&](double* row, const double* at) { std::copy_n(at, width, row); };
    each_row(begins.front(), begins[rank], take);
    each_row(begins[rank + 1], begins.back(), take);
}

} // namespace

double part_of_rank(const comm::Transport* ranks) { return ranks != nullptr ? 1.0 / ranks->size() : 1.0; }

std::vector<std::int64_t> each_alike(std::int64_t cells) {
    std::vector<std::int64_t> starts(static_cast<std::size_t>(cells) + 1);
    std::iota(starts.begin(), starts.end(), std::int64_t{0});
    return starts;
}

std::vector<double> share_cell_numbers(comm::Transport* ranks, int threads,
                                       std::span<const std::int64_t> starts, std::int64_t numbers,
                                       const WorkWatch& watch,
                                       const std::function<void(std::size_t, double*)>& make) {
    const auto cells = std::ssize(starts) - 1;
    std::vector<double> all(static_cast<std::size_t>(cells * numbers));
    const auto make_some = [&](std::int64_t first, std::int64_t last) {
        parallel_for(threads, last - first, [&](std::int64_t number) {
            const auto cell = first + number;
            if (!watch.stopped()) make(static_cast<std::size_t>(cell), all.data() + cell * numbers);
        });
    };
    if (ranks == nullptr) {
        make_some(0, cells);
        return all;
    }
    const auto begins = first_cells(*ranks, {.start = starts, .order = {}}, {});
    const auto rank = static_cast<std::size_t>(ranks->rank());
    make_some(begins[rank], begins[rank + 1]);
    comm::share_rows(*ranks, all, numbers, begins);
    return all;
}

void share_cells(comm::Transport* ranks, const TargetCells& targets, const CellWork& work,
                 const LatticeResults& results, const WorkWatch& watch,
                 const std::function<void(std::int64_t, std::int64_t)>& compute) {
    if (ranks == nullptr) return compute(0, std::ssize(targets.start) - 1);
    const auto cells = first_cells(*ranks, targets, work);
    const auto rank = static_cast<std::size_t>(ranks->rank());
    compute(cells[rank], cells[rank + 1]);
    if (comm::any_rank(*ranks, watch.stopped())) return;
    std::vector<std::int64_t> begins;
    begins.reserve(cells.size());
    for (const auto cell : cells) begins.push_back(targets.start[static_cast<std::size_t>(cell)]);
    share_rows_in_order(*ranks, targets.order, begins, results.potential, 1);
    share_rows_in_order(*ranks, targets.order, begins, results.field, 3);
}

} // namespace farfield
