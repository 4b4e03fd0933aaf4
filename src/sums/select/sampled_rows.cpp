#include "sums/select/sampled_rows.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "sums/points/rows_of_ranks.h"
#include "sums/select/exact_row.h"
#include "sums/select/periodic_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace farfield {
namespace {

using RowList = std::vector<ExactRows::value_type*>;

/// Sums of fewer pairs are looked at with all the digits there are: that costs little.
constexpr double few_long_pairs = 5e7, few_vector_pairs = 2e6;
/// Of a tolerance: what the error of a double's rounding may be.
constexpr double share_of_rounding = 0.01;

bool is_asked(std::span<const ComparedOutput> compared, Output output) {
    return std::any_of(compared.begin(), compared.end(),
                       [&](const ComparedOutput& one) { return one.output == output; });
}

double least_tolerance_of_doubles(const VerifyTask& task) { return task.soon ? 1e-12 : 1e-10; }

double pairs_of(const VerifyTask& task, const RowList& list) {
    return static_cast<double>(list.size()) * static_cast<double>(task.problem->sources);
}

/// Where rows of sources are named, whatever of them are targets.
bool leaves_own_out(const VerifyTask& task) {
    const auto& problem = *task.problem;
    if (task.own_rows.empty()) return problem.without_own();
    return !problem.kernel->acts_on_itself || problem.self_term == SelfTerm::exclude;
}

ExactTask exact_task(const VerifyTask& task, std::int64_t row) {
    const auto& problem = *task.problem;
    const auto points = problem.self ? task.sources : task.targets;
    return {.dimension = problem.dimension,
            .columns = problem.kernel->strength.columns,
            .sources = problem.sources,
            .points = task.sources.data(),
            .strengths = task.strengths.data(),
            .dipoles = task.dipoles.empty() ? nullptr : task.dipoles.data(),
            .target = points.data() + row * problem.dimension,
            .own = !task.own_rows.empty() ? task.own_rows[static_cast<std::size_t>(row)]
                   : problem.self         ? row
                                          : -1,
            .without_own = leaves_own_out(task),
            .softening = problem.softening,
            .sigma = problem.sigma};
}

template <class Real>
void plain_row(const VerifyTask& task, ExactSum<Real> sum, bool with_hessian, ExactRows::value_type& row) {
    const auto& problem = *task.problem;
    std::vector<Real> values(static_cast<std::size_t>(problem.kernel->width(problem.dimension)), Real(0));
    auto exact = exact_task(task, row.first);
    exact.with_hessian = with_hessian;
    (void)sum(exact, values.data());
    row.second.assign(values.begin(), values.end());
}

void plain_rows(const VerifyTask& task, bool with_hessian, const RowList& list) {
    const auto& kernel = *task.problem->kernel;
    const bool precise = task.problem->tolerance < least_tolerance_of_doubles(task) ||
                         (!task.soon && pairs_of(task, list) < few_long_pairs);
    parallel_for(task.threads, static_cast<std::int64_t>(list.size()), [&](std::int64_t number) {
        auto& row = *list[static_cast<std::size_t>(number)];
        if (precise)
            plain_row<long double>(task, kernel.exact_long, with_hessian, row);
        else
            plain_row<double>(task, kernel.exact, with_hessian, row);
    });
}

/// Rows that are computed together read their sources once; but no thread is to be left without rows.
std::size_t rows_together(std::size_t rows, int threads) {
    constexpr std::size_t most = 16;
    constexpr std::size_t parts_of_a_thread = 4;
    return std::clamp<std::size_t>(rows / (parts_of_a_thread * static_cast<std::size_t>(threads)), 1, most);
}

/// A row with a number out of the range of a double is left to the plain sum, which says what it is.
void rows_in_vectors(const VerifyTask& task, bool with_potential, bool in_pairs, const RowList& list) {
    const auto together = rows_together(list.size(), task.threads);
    const auto parts = static_cast<std::int64_t>((list.size() + together - 1) / together);
    parallel_for(task.threads, parts, [&](std::int64_t part) {
        const auto first = static_cast<std::size_t>(part) * together;
        const auto rows = std::span(list).subspan(first, std::min(together, list.size() - first));
        std::vector<ExactTask> tasks;
        for (const auto* row : rows) tasks.push_back(exact_task(task, row->first));
        const auto& kernel = *task.problem->kernel;
        const auto values = exact_rows(
            {.kernel = &kernel, .targets = tasks, .with_potential = with_potential, .in_pairs = in_pairs});
        for (std::size_t k = 0; k < rows.size(); ++k) {
            rows[k]->second = values[k];
            if (!std::all_of(values[k].begin(), values[k].end(),
                             [](double value) { return std::isfinite(value); }))
                plain_row<long double>(task, kernel.exact_long, false, *rows[k]);
        }
    });
}

/// True if a few of the rows, computed in pairs of doubles, are what they are.
bool agree(const VerifyTask& task, std::span<const ComparedOutput> compared, bool with_potential,
           const RowList& list) {
    constexpr std::size_t few = 4;
    ExactRows precise;
    for (std::size_t k = 0; k < few; ++k) precise[list[k * list.size() / few]->first];
    RowList chosen;
    for (auto& row : precise) chosen.push_back(&row);
    rows_in_vectors(task, with_potential, true, chosen);
    const auto is_near = [&](const ExactRows::value_type& row, const std::vector<double>& doubles) {
        return std::all_of(compared.begin(), compared.end(), [&](const ComparedOutput& output) {
            double off = 0.0;
            // what an error is relative to; that of a large value to itself, unless ranks have parts of it
            double size = output.size;
            const bool whole = task.ranks == nullptr;
            for (auto k = output.first; k < output.first + output.width; ++k) {
                off = std::max(off, std::abs(row.second[k] - doubles[k]));
                if (whole) size = std::max(size, std::abs(row.second[k]));
            }
            return off <= share_of_rounding * task.problem->tolerance * size;
        });
    };
    return std::all_of(list.begin(), list.end(), [&](const auto* row) {
        const auto found = precise.find(row->first);
        return found == precise.end() || is_near(*found, row->second);
    });
}

} // namespace

void compute_exact_rows(const VerifyTask& task, std::span<const ComparedOutput> compared, ExactRows& rows) {
    const auto& problem = *task.problem;
    if (problem.is_periodic()) return compute_periodic_rows(task, rows);
    RowList list;
    for (auto& row : rows) list.push_back(&row);
    const bool with_hessian = is_asked(compared, Output::hessian);
    if (list.empty() || !has_exact_rows(*problem.kernel, problem.dimension) || !task.dipoles.empty() ||
        with_hessian)
        return plain_rows(task, with_hessian, list);
    const bool with_potential = is_asked(compared, Output::potential);
    const bool is_small = !task.soon && pairs_of(task, list) < few_vector_pairs;
    rows_in_vectors(task, with_potential, is_small, list);
    if (is_small || problem.tolerance >= least_tolerance_of_doubles(task) ||
        agree(task, compared, with_potential, list))
        return;
    rows_in_vectors(task, with_potential, true, list);
}

namespace {

/// Of outputs that nobody asked for numbers may be missing.
void append(ExactRows& rows, std::size_t width, std::vector<double>& values) {
    for (auto& [row, numbers] : rows) {
        numbers.resize(width);
        values.insert(values.end(), numbers.begin(), numbers.end());
    }
}

} // namespace

void compute_exact_rows_on_ranks(const VerifyTask& task, std::span<const ComparedOutput> compared,
                                 ExactRows& rows) {
    const auto dimension = static_cast<std::size_t>(task.problem->dimension);
    const bool self = task.problem->self;
    const auto points = self ? task.sources : task.targets;
    const RowsOfRanks among(*task.ranks, static_cast<std::int64_t>(points.size() / dimension));
    std::vector<std::int64_t> numbers, own_rows;
    std::vector<double> places;
    for (const auto& [row, values] : rows) {
        numbers.push_back(row);
        own_rows.push_back(self && among.has(row) ? row - among.first() : -1);
        if (!among.has(row)) continue;
        const auto place =
            points.subspan(static_cast<std::size_t>(row - among.first()) * dimension, dimension);
        places.insert(places.end(), place.begin(), place.end());
    }
    const auto targets = among.gather(*task.ranks, numbers, places, dimension);
    auto problem = *task.problem;
    problem.self = false;
    problem.sources = static_cast<std::int64_t>(task.sources.size() / dimension);
    problem.targets = std::ssize(numbers);
    auto mine = task;
    mine.problem = &problem;
    mine.targets = targets;
    mine.own_rows = own_rows;
    ExactRows parts;
    for (std::int64_t k = 0; k < problem.targets; ++k) parts[k];
    compute_exact_rows(mine, compared, parts);
    const auto width = static_cast<std::size_t>(task.problem->kernel->width(task.problem->dimension));
    std::vector<double> values;
    append(parts, width, values);
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(task.ranks->size()), std::ssize(values));
    const auto all = comm::all_gathered(*task.ranks, std::span<const double>(values), counts);
    std::size_t k = 0;
    for (auto& [row, sum] : rows) {
        sum.assign(width, 0.0);
        for (std::size_t rank = 0; rank < counts.size(); ++rank)
            for (std::size_t i = 0; i < width; ++i) sum[i] += all[rank * values.size() + k * width + i];
        ++k;
    }
}

// Rows are computed one by one but in sums over waves, whose ranks share sources, too.
void share_exact_rows(const VerifyTask& task, std::span<const ComparedOutput> compared, ExactRows& rows) {
    if (task.problem->is_periodic() && !is_periodic_along_line(*task.problem))
        return compute_periodic_rows(task, rows);
    auto& ranks = *task.sharing;
    const auto begins = comm::equal_parts(ranks, std::ssize(rows));
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const auto first = std::next(rows.begin(), begins[rank]);
    ExactRows mine(first, std::next(first, begins[rank + 1] - begins[rank]));
    compute_exact_rows(task, compared, mine);
    const auto width = static_cast<std::size_t>(task.problem->kernel->width(task.problem->dimension));
    std::vector<double> values;
    append(mine, width, values);
    const auto all = comm::gathered_parts(ranks, std::span<const double>(values),
                                          static_cast<std::int64_t>(width), begins);
    auto from = all.begin();
    for (auto& [row, numbers] : rows) {
        numbers.assign(from, from + static_cast<std::ptrdiff_t>(width));
        from += static_cast<std::ptrdiff_t>(width);
    }
}

} // namespace farfield
