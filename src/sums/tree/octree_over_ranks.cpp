// What a tree is where ranks have points of their own: counts that all add up, shares that each looks at, the
// part of the tree that a rank keeps, and the points that come to it.
#include "sums/tree/octree.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"

#include <algorithm>
#include <utility>

namespace farfield {
namespace {

constexpr std::size_t looked_at_a_task = 64;

} // namespace

void Octree::share_rows(const comm::Transport& ranks, std::span<const double> begins) {
    const auto rows = static_cast<double>(counts_[0] + (self_ ? 0 : counts_[1]));
    RowShares shares{.begins = {}, .rank = ranks.rank()};
    for (int r = 0; r <= ranks.size(); ++r) {
        const double begin =
            begins.empty() ? static_cast<double>(r) / ranks.size() : begins[static_cast<std::size_t>(r)];
        shares.begins.push_back(static_cast<std::int64_t>(rows * begin));
    }
    shares_ = std::move(shares);
}

std::int32_t Octree::cells_before(std::int32_t begin, std::int32_t end, std::int64_t row) const {
    const auto first = cells_.begin() + begin;
    return static_cast<std::int32_t>(
        std::partition_point(first, cells_.begin() + end,
                             [&](const TreeCell& cell) { return first_row(cell) < row; }) -
        first);
}

// Runs of cells that follow each other along the curve, in which this rank has found its own points. The rows
// of all ranks' points begin, in each run, at begins[n].
void Octree::count_over_ranks(comm::Transport& ranks, std::span<const std::span<Found>> runs,
                              std::span<const RunBegin> begins) const {
    std::vector<std::int32_t> counts;
    for (const auto run : runs)
        for (const auto& found : run)
            for (std::size_t set = 0; set < (self_ ? 1U : 2U); ++set)
                counts.push_back(found.given[set].size());
    comm::add_over_ranks(ranks, counts);
    auto count = counts.begin();
    for (std::size_t n = 0; n < runs.size(); ++n) {
        auto begin = begins[n];
        const auto next = [&](std::int32_t& first) {
            const BlockRange range{first, first + *count++};
            first = range.end;
            return range;
        };
        for (auto& found : runs[n]) {
            found.cell.sources = next(begin.sources);
            found.cell.targets = self_ ? found.cell.sources : next(begin.targets);
        }
    }
}

// A cell is looked at by the rank in whose share its rows begin, which knows its neighbours.
std::vector<char> Octree::divided_over_ranks(std::int32_t begin, std::int32_t end, comm::Transport& ranks,
                                             int threads) const {
    std::vector<char> own;
    if (shape_.pairs_a_cell <= 0.0 || shape_.depth >= 0) { // no neighbour counts
        for (auto number = begin; number < end; ++number) own.push_back(is_divided(cell(number)) ? 1 : 0);
        return own;
    }
    std::vector<std::int64_t> counts;
    std::int32_t before = 0, own_begin = 0;
    for (int r = 0; r < ranks.size(); ++r) {
        const auto next = r + 1 == ranks.size()
                              ? end - begin
                              : cells_before(begin, end, shares_->begins[static_cast<std::size_t>(r) + 1]);
        if (r == ranks.rank()) own_begin = before;
        counts.push_back(next - before);
        before = next;
    }
    own.resize(static_cast<std::size_t>(counts[static_cast<std::size_t>(ranks.rank())]));
    parallel_parts(
        threads, own.size(),
        [&](std::size_t first, std::size_t last) {
            for (auto n = first; n < last; ++n) {
                const auto number = begin + own_begin + static_cast<std::int32_t>(n);
                own[n] = is_divided(cell(number)) || is_beside_many(number) ? 1 : 0;
            }
        },
        looked_at_a_task);
    return comm::all_gathered(ranks, std::span<const char>(own), counts);
}

void Octree::take_points(LeafPoints sources, LeafPoints targets) {
    given_ = {};
    for (auto& cell : cells_) {
        cell.sources = {0, cell.sources.size()};
        cell.targets = {0, cell.targets.size()};
    }
    const auto place = [&](const LeafPoints& points, BlockRange TreeCell::*rows) {
        for (std::size_t n = 0; n < points.cells.size(); ++n) {
            auto& range = cells_[static_cast<std::size_t>(points.cells[n])].*rows;
            range = {points.begins[n], points.begins[n] + range.size()};
        }
    };
    place(sources, &TreeCell::sources);
    place(self_ ? sources : targets, &TreeCell::targets);
    sources_ = {.from = {}, .x = std::move(sources.x)};
    targets_ = {.from = {}, .x = std::move(targets.x)};
}

std::int64_t Octree::count_cells() const {
    return cells_of_whole_ > 0 ? cells_of_whole_ : std::ssize(cells_);
}

std::int64_t Octree::count_receivers(int level) const {
    if (!receivers_of_whole_.empty()) return receivers_of_whole_[static_cast<std::size_t>(level)];
    return std::count_if(cells_.begin() + level_begin(level), cells_.begin() + level_begin(level + 1),
                         [](const TreeCell& cell) { return cell.targets.size() > 0; });
}

Octree Octree::part(std::span<const std::int32_t> numbers, std::span<const std::int32_t> new_numbers,
                    int threads) const {
    Octree out;
    out.shape_ = shape_;
    out.self_ = self_;
    out.finest_ = finest_;
    std::copy(std::begin(low_), std::end(low_), std::begin(out.low_));
    out.side_ = side_;
    out.counts_ = counts_;
    out.cells_of_whole_ = std::ssize(cells_);
    for (int level = 0; level < levels(); ++level) out.receivers_of_whole_.push_back(count_receivers(level));
    out.levels_.clear();
    for (const auto begin : levels_)
        out.levels_.push_back(static_cast<std::int32_t>(
            std::lower_bound(numbers.begin(), numbers.end(), begin) - numbers.begin()));
    const auto renumber = [&](std::int32_t& cell) {
        if (cell != no_cell) cell = new_numbers[static_cast<std::size_t>(cell)];
    };
    out.coarse_ = coarse_;
    for (auto& cell : out.coarse_) renumber(cell);
    out.neighbour_count_ = neighbour_count_;
    const auto width = static_cast<std::size_t>(neighbour_count_);
    out.cells_.resize(numbers.size());
    out.neighbours_.resize(numbers.size() * width);
    parallel_parts(threads, numbers.size(), [&](std::size_t begin, std::size_t end) {
        for (auto n = begin; n < end; ++n) {
            auto& cell = out.cells_[n];
            cell = this->cell(numbers[n]);
            renumber(cell.parent);
            for (auto& child : cell.children) renumber(child);
            const auto known = neighbours(numbers[n]);
            auto* const row = out.neighbours_.data() + n * width;
            std::copy(known.begin(), known.end(), row);
            std::fill(row + known.size(), row + width, no_cell);
            for (std::size_t slot = 0; slot < width; ++slot) renumber(row[slot]);
        }
    });
    const auto make_known_to_others = [&](std::size_t n) {
        const auto known = neighbours(numbers[n]);
        for (std::size_t slot = 0; slot < known.size(); ++slot) {
            const auto other = out.neighbours_[n * width + slot];
            if (other == no_cell || !neighbours(known[slot]).empty()) continue;
            out.neighbours_[static_cast<std::size_t>(other) * width + width - 1 - slot] =
                static_cast<std::int32_t>(n);
        }
    };
    parallel_parts(threads, numbers.size(), [&](std::size_t begin, std::size_t end) {
        for (auto n = begin; n < end; ++n) make_known_to_others(n);
    });
    return out;
}

} // namespace farfield
