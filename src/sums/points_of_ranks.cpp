#include "sums/points_of_ranks.h"

#include "backend/comm/agree.h"
#include "backend/cuda/host_copy.h"
#include "backend/threads/parallel.h"
#include "base/arrays.h"
#include "sums/asked.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace farfield {

namespace {

// This rank's rows of a checked view of one dimension or two, as contiguous doubles on the host: those of the
// view, or a `copy`. `what`: of messages ("sources").
std::span<const double> own_numbers(comm::Transport& ranks, const RowsOfRanks& rows,
                                    const ConstArrayView& view, std::int64_t columns, std::string_view what,
                                    int threads, std::vector<double>& copy) {
    std::span<const double> own;
    comm::together(ranks, [&] {
        if (rows.mine() == 0) return;
        const auto numbers = static_cast<std::size_t>(rows.mine() * columns);
        if (!view) { // what another rank gave alone
            copy.assign(numbers, 0.0);
            own = copy;
            return;
        }
        const bool as_wanted = view.device.type == DeviceType::cpu && view.dtype == DType::float64 &&
                               is_contiguous(view, rows.mine(), columns);
        if (!as_wanted) copy = cuda::host_copy(view, rows.mine(), columns);
        own = as_wanted ? std::span(static_cast<const double*>(view.data), numbers) : std::span(copy);
        const auto bad = parallel_results(threads, numbers, [&](std::size_t begin, std::size_t end) {
            const auto* const found = std::find_if(&own[begin], &own[begin] + (end - begin),
                                                   [](double value) { return !std::isfinite(value); });
            return found - own.data() == static_cast<std::ptrdiff_t>(end) ? nullptr : found;
        });
        for (const auto* found : bad)
            if (found != nullptr)
                throw InvalidArgument(
                    fmt::format("{} of rank {}: row {} has {}; numbers must be finite: remove or "
                                "repair the row",
                                what, rows.rank(), (found - own.data()) / columns, *found));
    });
    return own;
}

std::vector<double> all_numbers(comm::Transport& ranks, const RowsOfRanks& rows, const ConstArrayView& view,
                                std::int64_t columns, std::string_view what) {
    std::vector<double> copy;
    return rows.gather(ranks, own_numbers(ranks, rows, view, columns, what, 1, copy), columns);
}

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
    const auto count = [&](const ConstArrayView& own, std::string_view what) {
        comm::together(ranks, [&] { check_points(own, what, dimension); });
        return RowsOfRanks(ranks, own.shape[0]);
    };
    source_rows = count(own_sources, "sources");
    target_rows = own_targets != nullptr ? count(*own_targets, "targets") : source_rows;
}

void PointsOfRanks::gather(comm::Transport& ranks, const ConstArrayView& own_sources,
                           const ConstArrayView* own_targets) {
    sources = all_numbers(ranks, source_rows, own_sources, dimension, "sources");
    if (own_targets != nullptr) targets = all_numbers(ranks, target_rows, *own_targets, dimension, "targets");
}

namespace {

ConstArrayView view_of(const std::vector<double>& values, std::int64_t rows, int dimension) {
    auto view = matrix_view(std::span<const double>(values), dimension);
    view.shape[0] = rows;
    return view;
}

} // namespace

ConstArrayView PointsOfRanks::own_sources(comm::Transport& ranks, const ConstArrayView& view, int threads,
                                          std::vector<double>& copy) const {
    return matrix_view(own_numbers(ranks, source_rows, view, dimension, "sources", threads, copy), dimension);
}

ConstArrayView PointsOfRanks::own_targets(comm::Transport& ranks, const ConstArrayView& view, int threads,
                                          std::vector<double>& copy) const {
    return matrix_view(own_numbers(ranks, target_rows, view, dimension, "targets", threads, copy), dimension);
}

SumProblem PointsOfRanks::own(SumProblem problem) const {
    problem.sources = source_rows.mine();
    problem.targets = target_rows.mine();
    return problem;
}

ConstArrayView PointsOfRanks::source_view() const { return view_of(sources, source_rows.all(), dimension); }
ConstArrayView PointsOfRanks::target_view() const { return view_of(targets, target_rows.all(), dimension); }

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
    const auto vectors = common_vectors(ranks, points.own(problem), strengths, outputs);
    const auto& kernel = *problem.kernel;
    const auto gather = [&](const ConstArrayView& view, std::vector<double>& into, std::int64_t columns,
                            std::string_view what) {
        if (!comm::any_rank(ranks, static_cast<bool>(view))) return ConstArrayView{};
        into = all_numbers(ranks, points.source_rows, view, columns, what);
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
        cuda::write_anywhere(own, static_cast<const double*>(all.data) + points_.target_rows.first() * width,
                             points_.target_rows.mine(), width);
    }
}

OwnExecution::OwnExecution(comm::Transport& ranks, const PointsOfRanks& points, const SumProblem& problem,
                           int threads, const SumStrengths& strengths, const SumOutputs& outputs,
                           bool anywhere) {
    comm::together(ranks, [&] {
        if (anywhere) return;
        for (const auto& info : problem.kernel->outputs)
            if (const auto& view = outputs.of(info.output)) require_host(view, name_of(info.output));
    });
    const auto own = points.own(problem);
    const auto vectors = common_vectors(ranks, own, strengths, outputs);
    const auto& kernel = *problem.kernel;
    values_.reserve(kernel.outputs.size() + 2);
    const auto room = [&](std::int64_t rows, std::int64_t columns) { // of no rows, too
        auto& values =
            values_.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(rows, 1) * columns));
        auto view = matrix_view(std::span<double>(values), columns);
        view.shape[0] = rows;
        return view;
    };
    const auto rows_of = [&](const ConstArrayView& view, std::int64_t columns, std::string_view what,
                             std::vector<double>& copy) -> ConstArrayView {
        if (!comm::any_rank(ranks, static_cast<bool>(view))) return {};
        if (anywhere && view && own.sources > 0) return view;
        if (anywhere) return room(own.sources, columns);
        const auto numbers = own_numbers(ranks, points.source_rows, view, columns, what, threads, copy);
        return numbers.empty() ? room(own.sources, columns) : matrix_view(numbers, columns);
    };
    strengths_.charges = rows_of(strengths.charges, vectors * kernel.strength.columns, "strengths", charges_);
    strengths_.dipoles = rows_of(strengths.dipoles, vectors * problem.dimension, "dipoles", dipoles_);
    for (const auto& info : kernel.outputs) {
        const auto& given = outputs.of(info.output);
        if (!comm::any_rank(ranks, static_cast<bool>(given))) continue;
        outputs_.of(info.output) = given && own.targets > 0
                                       ? given
                                       : room(own.targets, vectors * kernel.width(info, problem.dimension));
    }
}

} // namespace farfield
