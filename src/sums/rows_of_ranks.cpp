#include "sums/rows_of_ranks.h"

#include "backend/comm/agree.h"
#include "backend/cuda/host_copy.h"
#include "base/arrays.h"
#include "sums/asked.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace farfield {

RowsOfRanks::RowsOfRanks(comm::Transport& ranks, std::int64_t mine)
    : rank_(ranks.rank()), counts_(comm::all_values(ranks, mine)),
      all_(std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0})),
      first_(std::accumulate(counts_.begin(), counts_.begin() + rank_, std::int64_t{0})) {}

std::vector<double> RowsOfRanks::gather(comm::Transport& ranks, const ConstArrayView& rows,
                                        std::int64_t columns, std::string_view what) const {
    std::vector<double> own;
    comm::together(ranks, [&] {
        own = cuda::host_copy(rows, mine(), columns);
        const auto bad =
            std::find_if(own.begin(), own.end(), [](double value) { return !std::isfinite(value); });
        if (bad != own.end())
            throw InvalidArgument(
                fmt::format("{} of rank {}: row {} has {}; numbers must be finite: remove or "
                            "repair the row",
                            what, rank_, (bad - own.begin()) / columns, *bad));
    });
    std::vector<std::int64_t> numbers;
    numbers.reserve(counts_.size());
    for (const auto count : counts_) numbers.push_back(count * columns);
    return comm::all_gathered(ranks, std::span<const double>(own), numbers);
}

namespace {

// Of this rank's sources, unless another has points of another one.
int common_dimension(comm::Transport& ranks, const ConstArrayView& sources) {
    const auto mine = sources.ndim == 2 ? static_cast<int>(sources.shape[1]) : 3;
    const auto all = comm::all_values(ranks, mine);
    const auto other = std::find_if(all.begin(), all.end(), [&](int one) { return one != all.front(); });
    if (other != all.end())
        throw InvalidArgument(fmt::format("sources: rank 0 has points of {} coordinates, rank {} of {}; all "
                                          "ranks need the same",
                                          all.front(), other - all.begin(), *other));
    return mine;
}

} // namespace

PointsOfRanks::PointsOfRanks(comm::Transport& ranks, const ConstArrayView& own_sources,
                             const ConstArrayView* own_targets)
    : dimension(common_dimension(ranks, own_sources)) {
    const auto read = [&](const ConstArrayView& own, std::string_view what, RowsOfRanks& rows) {
        comm::together(ranks, [&] { check_points(own, what, dimension); });
        rows = RowsOfRanks(ranks, own.shape[0]);
        return rows.gather(ranks, own, dimension, what);
    };
    sources = read(own_sources, "sources", source_rows);
    target_rows = source_rows;
    if (own_targets != nullptr) targets = read(*own_targets, "targets", target_rows);
}

ConstArrayView PointsOfRanks::source_view() const {
    return matrix_view(std::span<const double>(sources), dimension);
}
ConstArrayView PointsOfRanks::target_view() const {
    return matrix_view(std::span<const double>(targets), dimension);
}

namespace {

// Of strengths: ranks without sources do not know.
std::int64_t common_vectors(comm::Transport& ranks, const SumProblem& own, const SumStrengths& strengths,
                            const SumOutputs& outputs) {
    std::int64_t mine = 0;
    comm::together(ranks, [&] {
        if (own.sources > 0) mine = check_arrays(own, strengths, outputs);
    });
    const auto all = comm::all_values(ranks, mine);
    const auto most = std::max<std::int64_t>(1, *std::max_element(all.begin(), all.end()));
    comm::together(ranks, [&] {
        if (mine != 0 && mine != most)
            throw InvalidArgument(
                fmt::format("strengths: rank {} has {} of each source, another rank {}; all "
                            "ranks need the same",
                            ranks.rank(), mine, most));
        for (const auto& info : own.kernel->outputs)
            if (const auto& view = outputs.of(info.output); mine == 0 && view)
                check_output(view, own.targets, most * own.kernel->width(info, own.dimension),
                             name_of(info.output));
    });
    return most;
}

} // namespace

ExecutionOfRanks::ExecutionOfRanks(comm::Transport& ranks, const PointsOfRanks& points,
                                   const SumProblem& problem, const SumStrengths& strengths,
                                   const SumOutputs& outputs)
    : points_(points), own_outputs_(outputs) {
    auto own = problem;
    own.sources = points.source_rows.mine();
    own.targets = points.target_rows.mine();
    const auto vectors = common_vectors(ranks, own, strengths, outputs);
    const auto& kernel = *problem.kernel;
    const auto gather = [&](const ConstArrayView& view, std::vector<double>& into, std::int64_t columns,
                            std::string_view what) {
        if (!comm::any_rank(ranks, static_cast<bool>(view))) return ConstArrayView{};
        into = points.source_rows.gather(ranks, view, columns, what);
        return matrix_view(std::span<const double>(into), columns);
    };
    all_strengths_.charges =
        gather(strengths.charges, charges_, vectors * kernel.strength.columns, "strengths");
    all_strengths_.dipoles = gather(strengths.dipoles, dipoles_, vectors * problem.dimension, "dipoles");
    values_.reserve(kernel.outputs.size());
    for (const auto& info : kernel.outputs) {
        if (!comm::any_rank(ranks, static_cast<bool>(outputs.of(info.output)))) continue;
        const auto width = vectors * kernel.width(info, problem.dimension);
        auto& all = values_.emplace_back(static_cast<std::size_t>(points.target_rows.all() * width));
        all_outputs_.of(info.output) = matrix_view(std::span<double>(all), width);
    }
}

void ExecutionOfRanks::keep_own() const {
    for (int k = 0; k < output_count; ++k) {
        const auto& all = all_outputs_.of(static_cast<Output>(k));
        const auto& own = own_outputs_.of(static_cast<Output>(k));
        if (!all || !own) continue;
        const auto width = all.shape[1];
        write_values(own, static_cast<const double*>(all.data) + points_.target_rows.first() * width,
                     points_.target_rows.mine(), width);
    }
}

} // namespace farfield
