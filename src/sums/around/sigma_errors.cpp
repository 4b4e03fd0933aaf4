#include "sums/around/sigma_errors.h"

#include "backend/threads/parallel.h"
#include "sums/select/sampled_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace farfield {
namespace {

/// One vector of a matrix of several, `width` numbers a row each.
std::vector<double> vector_of(std::span<const double> values, std::size_t vectors, std::size_t vector,
                              std::size_t width) {
    std::vector<double> out;
    out.reserve(values.size() / vectors);
    for (std::size_t i = vector * width; i < values.size(); i += vectors * width)
        out.insert(out.end(), values.begin() + static_cast<std::ptrdiff_t>(i),
                   values.begin() + static_cast<std::ptrdiff_t>(i + width));
    return out;
}

SumProblem problem_of_part(const SigmaSum& sum, const SumOptions& options, const SigmaPart& part) {
    SumProblem out;
    out.kernel = &gauss_kernel();
    out.dimension = sum.dimension;
    out.outputs = out.kernel->output_set();
    out.self = part.self;
    out.sources = static_cast<std::int64_t>(sum.groups[part.group].rows.size());
    out.targets = part.all ? sum.target_count() : static_cast<std::int64_t>(part.targets.size());
    out.sigma = sum.groups[part.group].sigma;
    out.self_term = part.self ? options.self_term : SelfTerm::include;
    out.relative_to = options.relative_to;
    out.tolerance = options.tolerance;
    return out;
}

/// Adds the part's values at those of `rows` that it has.
void add_exact(const SigmaSum& sum, const SumOptions& options, const SigmaPart& part,
               std::span<const double> strengths, std::span<const ComparedOutput> compared, ExactRows& rows) {
    const auto& own = sum.groups[part.group].rows;
    const auto d = static_cast<std::size_t>(sum.dimension);
    ExactRows local;
    std::vector<std::int64_t> rows_of_local;
    for (const auto& [row, values] : rows) {
        const auto place = std::lower_bound(part.targets.begin(), part.targets.end(), row);
        if (part.all)
            local[row];
        else if (place != part.targets.end() && *place == row)
            local[place - part.targets.begin()];
        else
            continue;
        rows_of_local.push_back(row); // in the order of `local`: both rise
    }
    const auto problem = problem_of_part(sum, options, part);
    const auto sources = rows_at(sum.sources, d, own);
    const auto targets = part.self || part.all ? std::vector<double>() : rows_at(sum.at(), d, part.targets);
    const auto weights = rows_at(strengths, 1, own);
    const auto at = part.self  ? std::span<const double>()
                    : part.all ? std::span<const double>(sum.at())
                               : std::span<const double>(targets);
    compute_exact_rows({.problem = &problem,
                        .sources = sources,
                        .targets = at,
                        .strengths = weights,
                        .threads = thread_count(options.threads)},
                       compared, local);
    std::size_t number = 0;
    for (const auto& [place, values] : local) {
        auto& total = rows[rows_of_local[number++]];
        total.resize(values.size(), 0.0);
        for (std::size_t k = 0; k < values.size(); ++k) total[k] += values[k];
    }
}

/// As verify.cpp has it of one width: what makes a rounding of Σ|q| an error of the tolerance, or Σ|q|
/// itself.
double least_value(const SigmaSum& sum, const SumOptions& options, std::span<const double> strengths,
                   Output output) {
    double all = 0.0;
    for (const auto& group : sum.groups)
        for (const auto row : group.rows)
            all += std::abs(strengths[static_cast<std::size_t>(row)]) *
                   (output == Output::gradient ? std::exp(-0.5) / group.sigma : 1.0);
    return options.relative_to == RelativeTo::sum ? all : 0x1p-53 * all / options.tolerance;
}

std::vector<OutputError> errors_of_vector(const SigmaSum& sum, const SumOptions& options,
                                          const SigmaTotals& totals, std::size_t vector) {
    const auto vectors = static_cast<std::size_t>(sum.vectors);
    const auto strengths = vector_of(sum.strengths, vectors, vector, 1);
    const auto potential = vector_of(totals.potential, vectors, vector, 1);
    const auto gradient =
        vector_of(totals.gradient, vectors, vector, static_cast<std::size_t>(sum.dimension));
    std::vector<ComputedOutput> computed;
    if (!potential.empty()) computed.push_back({Output::potential, potential});
    if (!gradient.empty()) computed.push_back({Output::gradient, gradient});
    auto whole = problem_of_part(sum, options, {.all = true});
    whole.sources = sum.source_count();
    return verify_with(
        {.problem = &whole,
         .sources = {},
         .targets = {},
         .strengths = {},
         .threads = thread_count(options.threads)},
        computed,
        {.rows =
             [&](std::span<const ComparedOutput> compared, ExactRows& rows) {
                 for (const auto& part : sum.parts) add_exact(sum, options, part, strengths, compared, rows);
             },
         .least = [&](Output output) { return least_value(sum, options, strengths, output); }});
}

} // namespace

std::vector<OutputError> sigma_errors(const SigmaSum& sum, const SumOptions& options,
                                      const SigmaTotals& totals) {
    std::vector<OutputError> worst;
    for (std::size_t v = 0; v < static_cast<std::size_t>(sum.vectors); ++v) {
        const auto found = errors_of_vector(sum, options, totals, v);
        if (worst.empty()) worst = found;
        for (std::size_t k = 0; k < found.size(); ++k)
            if (!(found[k].relative <= worst[k].relative)) worst[k] = found[k];
    }
    return worst;
}

} // namespace farfield
