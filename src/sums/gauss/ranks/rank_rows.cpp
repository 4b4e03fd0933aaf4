#include "sums/gauss/ranks/rank_rows.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "sums/gauss/grid/grid.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace farfield {
namespace {

RawVector<double> everything(comm::Transport& ranks, const RowsOfRanks& rows, std::span<const double> mine,
                             std::int64_t width) {
    const auto all = rows.gather(ranks, mine, width);
    return {all.begin(), all.end()};
}

} // namespace

GaussExtent gauss_extent_over_ranks(comm::Transport& ranks, std::span<const double> sources,
                                    std::span<const double> targets, int dimension, int threads) {
    struct Part {
        GaussExtent extent;
        bool has_points = false;
    };
    const Part mine{gauss_extent(sources, targets, dimension, threads), !sources.empty() || !targets.empty()};
    GaussExtent out;
    bool any = false;
    for (const auto& part : comm::all_values(ranks, mine)) {
        if (!part.has_points) continue;
        for (std::size_t k = 0; k < most_dimensions; ++k) {
            out.low[k] = any ? std::min(out.low[k], part.extent.low[k]) : part.extent.low[k];
            out.high[k] = any ? std::max(out.high[k], part.extent.high[k]) : part.extent.high[k];
        }
        any = true;
    }
    return out;
}

// A rule is one of a table.
GaussShape shape_of_first(comm::Transport& ranks, const GaussShape& shape) {
    const auto rules = grid_rules();
    const auto rule =
        comm::from_rank(ranks, shape.rule != nullptr ? std::int64_t{shape.rule - rules.data()} : -1);
    auto out = comm::from_rank(ranks, shape);
    out.rule = rule < 0 ? nullptr : &rules[static_cast<std::size_t>(rule)];
    return out;
}

RankRows::RankRows(comm::Transport& ranks, const SumProblem& problem, int threads)
    : ranks_(ranks), all_(problem), mine_(problem), threads_(threads) {}

void RankRows::deal(const GaussShape& shape, const GaussPointSets& given) {
    sources_.reset();
    targets_.reset();
    source_points_.clear();
    target_points_.clear();
    all_sources_ = RowsOfRanks(ranks_, std::ssize(given.sources) / all_.dimension);
    all_targets_ = all_.self ? all_sources_ : RowsOfRanks(ranks_, std::ssize(given.targets) / all_.dimension);
    mine_ = all_;
    if (shape.strategy == GaussStrategy::clusters || shape.strategy == GaussStrategy::boxes)
        return take_everything(given);
    if (shape.strategy == GaussStrategy::pairs)
        return deal_pairs(NearCells(shape, given.extent, given.frame, all_.dimension), given);
    if (grid_sorts_points(*shape.rule, given.extent, given.frame, all_.dimension))
        return deal_grid(grid_boxes(*shape.rule, given.extent, given.frame, all_.dimension), given);
    place_ = Place::as_given;
    mine_.sources = all_sources_.mine();
    mine_.targets = all_targets_.mine();
}

void RankRows::take_everything(const GaussPointSets& given) {
    sources_.reset();
    targets_.reset();
    place_ = Place::everywhere;
    source_points_ = everything(ranks_, all_sources_, given.sources, all_.dimension);
    if (!all_.self) target_points_ = everything(ranks_, all_targets_, given.targets, all_.dimension);
}

// Sources and targets by themselves: the grid does not ask where either are.
void RankRows::deal_grid(const GaussLattice& boxes, const GaussPointSets& given) {
    const auto deal = [&](std::span<const double> points, std::optional<DealtRows>& rows) {
        auto sorted = boxes.sorted(points, given.frame, threads_);
        const auto ranges = ranges_of_equal_counts(ranks_, sorted.keys);
        rows.emplace(ranks_, std::move(sorted), ranges, ranges, threads_);
    };
    deal(given.sources, sources_);
    if (!all_.self) deal(given.targets, targets_);
    take_dealt(given);
}

// First only keys, as many targets each: they tell how many pairs each cell has.
void RankRows::deal_pairs(const NearCells& cells, const GaussPointSets& given) {
    const auto sorted = [&](std::span<const double> points) {
        return cells.lattice().sorted(points, given.frame, threads_);
    };
    const auto sources = sorted(given.sources);
    const auto targets = all_.self ? SortedKeys() : sorted(given.targets);
    const auto deal_by = [&](const std::vector<KeyRange>& own) {
        std::vector<KeyRange> wide;
        wide.reserve(own.size());
        for (const auto& range : own) wide.push_back(cells.layers_near(range));
        sources_.emplace(ranks_, sources, own, wide, threads_);
        if (!all_.self) targets_.emplace(ranks_, targets, own, own, threads_);
    };
    deal_by(ranges_of_equal_counts(ranks_, (all_.self ? sources : targets).keys));
    std::vector<std::uint64_t> keys;
    const auto work = work_of_cells(cells, keys);
    constexpr std::int64_t least_cells = 8; // of a rank, which they are to be divided among
    if (comm::sum_of_ranks(ranks_, std::ssize(keys)) < least_cells * ranks_.size())
        return take_everything(given);
    deal_by(ranges_of_equal_work(ranks_, keys, work));
    take_dealt(given);
}

/// Pairs of each cell of this rank's targets, about, and a little for the cell. @param keys  of the cells
std::vector<double> RankRows::work_of_cells(const NearCells& cells, std::vector<std::uint64_t>& keys) const {
    constexpr double work_of_a_cell = 64.0; // in pairs: to find what is near
    constexpr std::size_t cells_of_a_part = 256;
    const auto& rows = target_rows();
    const auto own = rows.keys().subspan(static_cast<std::size_t>(rows.own().begin),
                                         static_cast<std::size_t>(rows.own().size()));
    std::vector<double> targets;
    for (const auto key : own) {
        if (keys.empty() || keys.back() != key) {
            keys.push_back(key);
            targets.push_back(0.0);
        }
        ++targets.back();
    }
    constexpr std::size_t looked_at = 8192; // to find what is near takes longer than to deal out the rest
    const auto group = keys.size() / looked_at + 1;
    parallel_parts(
        threads_, (keys.size() + group - 1) / group,
        [&](std::size_t begin, std::size_t end) {
            for (auto g = begin; g < end; ++g) {
                double near = 0.0;
                for (const auto& range : cells.sources(sources_->keys(), keys[g * group]))
                    near += range.size();
                for (auto c = g * group; c < std::min(keys.size(), (g + 1) * group); ++c)
                    targets[c] = targets[c] * near + work_of_a_cell;
            }
        },
        cells_of_a_part);
    return targets;
}

void RankRows::take_dealt(const GaussPointSets& given) {
    place_ = Place::dealt;
    sources_->bring(given.sources, all_.dimension, source_points_);
    if (!all_.self) targets_->bring(given.targets, all_.dimension, target_points_);
    mine_.sources = std::ssize(sources_->keys());
    mine_.targets = std::ssize(target_rows().keys());
}

GaussPointSets RankRows::points(const GaussPointSets& given) const {
    if (place_ == Place::as_given) return given;
    GaussPointSets out{source_points_, target_points_, given.extent, given.frame};
    out.shared = place_ == Place::everywhere;
    if (place_ == Place::dealt) {
        const auto& own = target_rows().own();
        out.own = BlockRange{static_cast<std::int32_t>(own.begin), static_cast<std::int32_t>(own.end)};
    }
    return out;
}

std::span<const double> RankRows::strengths(std::span<const double> given, std::int64_t vectors) {
    if (place_ == Place::as_given) return given;
    if (place_ == Place::dealt)
        sources_->bring(given, vectors, strengths_);
    else
        strengths_ = everything(ranks_, all_sources_, given, vectors);
    return strengths_;
}

std::span<const std::int32_t> RankRows::bring_back(GaussSums& sums, std::span<const std::int32_t> order,
                                                   GaussSums& given) {
    if (place_ == Place::as_given) {
        std::swap(sums, given);
        return order;
    }
    const auto from = sums.all_columns(), to = given.all_columns();
    const auto rows = static_cast<std::size_t>(sums.targets());
    const auto row_of = [&](std::size_t i) { return order.empty() ? i : static_cast<std::size_t>(order[i]); };
    if (place_ == Place::everywhere) {
        const auto first = static_cast<std::size_t>(all_targets_.first());
        const auto count = static_cast<std::size_t>(all_targets_.mine());
        for (std::size_t k = 0; k < from.size(); ++k)
            for (std::size_t i = 0; i < rows; ++i)
                if (const auto row = row_of(i); row - first < count) to[k][row - first] = from[k][i];
        return {};
    }
    auto columns = from;
    if (!std::is_sorted(order.begin(), order.end())) { // rows that are dealt out usually are
        double* const in_rows = in_rows_.take(rows * from.size());
        for (std::size_t k = 0; k < from.size(); ++k) {
            columns[k] = in_rows + k * rows;
            for (std::size_t i = 0; i < rows; ++i) columns[k][row_of(i)] = from[k][i];
        }
    }
    target_rows().bring_back(SumRows(columns), SumRows(to));
    return target_rows().given_order();
}

void RankRows::share(GaussSums& given, std::span<const std::int32_t> order, GaussSums& all) const {
    const auto from = given.all_columns(), to = all.all_columns();
    const auto first = static_cast<std::size_t>(all_targets_.first());
    for (std::size_t k = 0; k < from.size(); ++k)
        for (std::size_t i = 0; i < static_cast<std::size_t>(given.targets()); ++i)
            to[k][first + (order.empty() ? i : static_cast<std::size_t>(order[i]))] = from[k][i];
    std::vector<RowRanges> parts;
    std::int64_t begin = 0;
    for (const auto count : comm::all_values(ranks_, all_targets_.mine())) {
        parts.emplace_back();
        if (count > 0) parts.back().emplace_back(begin, begin + count);
        begin += count;
    }
    gather_rows(ranks_, SumRows(to), parts);
}

} // namespace farfield
