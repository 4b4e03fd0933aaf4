#include "sums/select/verify.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "base/random.h"
#include "sums/points/rows_of_ranks.h"
#include "sums/select/periodic_rows.h"
#include "sums/select/sampled_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <list>
#include <numeric>
#include <set>

namespace farfield {
namespace {

constexpr std::uint64_t seed = 1;
constexpr std::uint32_t purpose = 0x7665; // apart from the numbers that others draw

/// Numbers of a target that an output has at most: those of a matrix.
constexpr std::size_t most_numbers = most_dimensions * (most_dimensions + 1) / 2;

/// Factors under which the root of the sum of squares of an output's numbers is its norm: that of a matrix is
/// Frobenius', in which numbers off the diagonal count twice.
std::vector<double> factors_of(const OutputInfo& info, int dimension, std::size_t width) {
    std::vector<double> out(width, 1.0);
    if (info.shape != OutputShape::matrix) return out;
    std::size_t place = 0;
    for (int i = 0; i < dimension; ++i)
        for (int k = i; k < dimension; ++k) out[place++] = i == k ? 1.0 : std::sqrt(2.0);
    return out;
}

/// Infinite where a value is not finite.
double length(const double* values, std::size_t n) {
    double largest = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
        if (!std::isfinite(values[k])) return HUGE_VAL;
        largest = std::max(largest, std::abs(values[k]));
    }
    if (largest == 0.0) return 0.0;
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) sum += values[k] / largest * (values[k] / largest);
    return largest * std::sqrt(sum);
}

/// One output, with the place of its first number among the exact ones.
struct Judged {
    std::span<const double> values;
    std::size_t width = 1, first = 0;
    std::vector<double> weights; ///< of its numbers
    std::span<const double> factors;
    std::vector<double> norms; ///< of this process' rows
    std::int64_t targets = 0;  ///< of all ranks
    TargetSample sample;
    std::vector<double> sampled;         ///< values of the samples
    std::vector<double> sampled_factors; ///< theirs

    double largest = 0.0;   ///< norm
    double root_mean = 0.0; ///< root of the mean square of all norms

    [[nodiscard]] double unit() const { return largest > 0.0 ? largest : 1.0; }
    /// Of a row that this process has.
    [[nodiscard]] double factor(std::int64_t row) const {
        return factors.empty() ? 1.0 : factors[static_cast<std::size_t>(row)];
    }
};

/// Of numbers of a target, minus `factor` times `exact` if that is not null.
double norm_of(const Judged& output, const double* numbers, double factor = 1.0,
               const double* exact = nullptr) {
    std::array<double, most_numbers> values; // NOLINT(*-member-init): filled below
    for (std::size_t k = 0; k < output.width; ++k)
        values[k] = output.weights[k] * (numbers[k] - (exact != nullptr ? factor * exact[k] : 0.0));
    return length(values.data(), output.width);
}

/// Squares of huge or tiny values stay in range.
void measure(comm::Transport* ranks, Judged& output) {
    const auto over_ranks = [&](double mine, const auto& join) {
        if (ranks == nullptr) return mine;
        const auto all = comm::all_values(*ranks, mine);
        return std::accumulate(all.begin() + 1, all.end(), all.front(), join);
    };
    double largest = 0.0;
    for (const double value : output.norms) largest = std::max(largest, value);
    output.largest = over_ranks(largest, [](double a, double b) { return std::max(a, b); });
    const double unit = output.unit();
    double squares = 0.0;
    for (const double value : output.norms) squares += value / unit * (value / unit);
    squares = over_ranks(squares, std::plus<>());
    output.root_mean = unit * std::sqrt(squares / static_cast<double>(output.targets));
}

/// The sampled targets and what was computed for them.
void sample(const VerifyTask& task, Judged& output, std::int64_t certain, std::int64_t drawn) {
    const auto take = [&](std::int64_t row) {
        const auto* const values = output.values.data() + static_cast<std::size_t>(row) * output.width;
        output.sampled.insert(output.sampled.end(), values, values + output.width);
        output.sampled_factors.push_back(output.factor(row));
    };
    if (task.ranks == nullptr) {
        output.sample = sample_targets(output.norms, certain, drawn);
        for (const auto row : output.sample.rows) take(row);
        return;
    }
    const RowsOfRanks rows(*task.ranks, std::ssize(output.norms));
    output.sample = sample_targets(*task.ranks, output.norms, rows.first(), rows.all(), certain, drawn);
    for (const auto row : output.sample.rows)
        if (rows.has(row)) take(row - rows.first());
    output.sampled = rows.gather(*task.ranks, output.sample.rows, output.sampled, output.width);
    output.sampled_factors = rows.gather(*task.ranks, output.sample.rows, output.sampled_factors, 1);
}

Judged judged(const VerifyTask& task, const ComputedOutput& computed) {
    const auto& problem = *task.problem;
    Judged out;
    out.values = computed.values;
    out.factors = computed.factors;
    for (const auto& info : problem.kernel->outputs) {
        out.width = static_cast<std::size_t>(problem.kernel->width(info, problem.dimension));
        out.weights = factors_of(info, problem.dimension, out.width);
        if (info.output == computed.output) break;
        out.first += out.width;
    }
    out.norms.resize(computed.values.size() / out.width);
    parallel_parts(task.threads, out.norms.size(), [&](std::size_t begin, std::size_t end) {
        for (auto row = begin; row < end; ++row)
            out.norms[row] = norm_of(out, out.values.data() + row * out.width);
    });
    out.targets = task.ranks != nullptr ? problem.targets : std::ssize(out.norms);
    measure(task.ranks, out);
    constexpr double few_pairs = 1e6; // of which all are looked at
    const int share = task.soon ? 2 : 1;
    const bool all =
        !task.soon && static_cast<double>(out.targets) * static_cast<double>(problem.sources) <= few_pairs;
    sample(task, out, all ? out.targets : certain_samples / share, drawn_samples / share);
    return out;
}

/// The value below which `share` of the total weight lies. @pre sorted by value.
double quantile(const std::vector<std::pair<double, double>>& weighted, double share) {
    double total = 0.0;
    for (const auto& [value, weight] : weighted) total += weight;
    double sum = 0.0;
    for (const auto& [value, weight] : weighted)
        if ((sum += weight) >= share * total) return value;
    return weighted.empty() ? 0.0 : weighted.back().first;
}

/// An output of at most `size` vanishes, and its errors are relative to `otherwise`.
struct Vanishing {
    double size = 0.0, otherwise = 0.0;
};

/// A logarithmic potential may vanish by the unit of length alone, and its errors do not: they are relative
/// to what it changes by at most where that becomes e times as large.
Vanishing vanishing_by_unit(const VerifyTask& task) {
    constexpr double nothing = 1e-10; // but rounding
    const auto& kernel = *task.problem->kernel;
    const auto columns = static_cast<std::size_t>(kernel.strength.columns);
    double strength = 0.0;
    for (std::size_t column = 0; column < columns; ++column) {
        double total = 0.0;
        double largest = 0.0;
        for (std::size_t i = column; i < task.strengths.size(); i += columns) {
            total += task.strengths[i];
            largest = std::max(largest, std::abs(task.strengths[i]));
        }
        if (task.ranks != nullptr) {
            total = comm::sum_of_ranks(*task.ranks, total);
            const auto all = comm::all_values(*task.ranks, largest);
            largest = *std::max_element(all.begin(), all.end());
        }
        strength = std::max({strength, std::abs(total), largest});
    }
    const double otherwise = strength * std::abs(kernel.sign);
    return {nothing * otherwise, otherwise};
}

/// Fields of a perfect crystal vanish: errors are relative to q/a², with the root mean square of strengths
/// and the distance a of evenly spread ones, in the box, on the plane or on the line that is periodic.
/// Softened over more than a, fields are small of any charges, and count as they are.
Vanishing vanishing_in_crystal(const VerifyTask& task, const Judged& output) {
    const auto& problem = *task.problem;
    double size = 1.0, axes = 0.0;
    for (const double side : problem.period) {
        if (side == 0.0) continue;
        size *= side;
        axes += 1.0;
    }
    const auto n = static_cast<double>(task.strengths.size());
    const double a = std::pow(size / std::max(n, 1.0), 1.0 / axes);
    if (problem.softening > a) return {};
    const auto root_mean = [](std::span<const double> values) {
        return length(values.data(), values.size()) /
               std::sqrt(static_cast<double>(std::max<std::size_t>(1, values.size())));
    };
    const double otherwise = std::abs(problem.kernel->sign) * root_mean(task.strengths) / (a * a) *
                             (output.factors.empty() ? 1.0 : root_mean(output.factors));
    return {problem.tolerance * otherwise, otherwise};
}

Vanishing vanishing(const VerifyTask& task, const Judged& output, Output which) {
    if (which == Output::potential && task.problem->kernel->scaling == Scaling::power_and_log)
        return vanishing_by_unit(task);
    if (which == Output::field && task.problem->is_periodic()) return vanishing_in_crystal(task, output);
    return {};
}

/// What errors of Gaussians are relative to, whatever the output; 0: the output. That is what the output
/// would be at most, were all strengths at one place, with RelativeTo::sum, and else what makes a rounding of
/// that number an error of the tolerance: nobody knows more of an output that is smaller.
double least_size(const VerifyTask& task, Output output) {
    const auto& problem = *task.problem;
    if (problem.kernel->norm != Norm::largest) return 0.0;
    double sum = 0.0;
    for (const double q : task.strengths) sum += std::abs(q);
    if (task.ranks != nullptr) sum = comm::sum_of_ranks(*task.ranks, sum);
    if (output == Output::gradient) sum *= std::exp(-0.5) / problem.sigma;
    if (problem.relative_to == RelativeTo::sum) return sum;
    return problem.tolerance > 0.0 ? 0x1p-53 * sum / problem.tolerance : 0.0;
}

/// What errors of an output are relative to, at least.
double size_of(const VerifyTask& task, const Judged& output, double least) {
    if (task.problem->kernel->norm != Norm::largest) return output.root_mean;
    return std::max(output.largest, least);
}

/// @param least  of what errors are relative to
OutputError error_of(const Judged& output, const ExactRows& exact, Norm norm, double least,
                     const Vanishing& vanishing) {
    const auto m = static_cast<double>(output.targets);
    const auto certain = static_cast<double>(output.sample.certain);
    const auto drawn = static_cast<double>(output.sample.rows.size()) - certain;
    const double unit = output.unit();
    const double size = norm == Norm::largest ? output.largest : output.root_mean;
    const double scale = std::max(least, size > vanishing.size ? size : vanishing.otherwise);
    double sum = 0.0;
    double worst = 0.0;
    std::vector<std::pair<double, double>> differences;
    for (std::size_t s = 0; s < output.sample.rows.size(); ++s) {
        const auto row = output.sample.rows[s];
        const double difference = norm_of(output, output.sampled.data() + s * output.width,
                                          output.sampled_factors[s], exact.at(row).data() + output.first);
        const double weight =
            s < static_cast<std::size_t>(output.sample.certain) ? 1.0 : (m - certain) / drawn;
        sum += weight * (difference / unit) * (difference / unit);
        worst = std::max(worst, difference);
        differences.emplace_back(difference, weight);
    }
    std::sort(differences.begin(), differences.end());
    // an output that is zero everywhere has no relative error but 0 or infinity
    const auto relative = [&](double difference) {
        return difference == 0.0 ? 0.0 : scale > 0.0 ? difference / scale : HUGE_VAL;
    };
    OutputError out;
    out.largest = norm == Norm::largest;
    out.samples = static_cast<std::int64_t>(output.sample.rows.size());
    if (!std::isfinite(output.largest)) {
        out.relative = out.median = out.percent_99 = out.maximum = HUGE_VAL;
        return out;
    }
    out.relative = relative(out.largest ? worst : unit * std::sqrt(sum / m));
    out.median = relative(quantile(differences, 0.5));
    out.percent_99 = relative(quantile(differences, 0.99));
    out.maximum = relative(worst);
    return out;
}

} // namespace

namespace {

/// A target and its norm.
struct Candidate {
    double norm = 0.0;
    std::int64_t row = 0;
};

bool is_before(const Candidate& a, const Candidate& b) {
    return a.norm != b.norm ? a.norm > b.norm : a.row < b.row;
}

/// Leaves those of the largest norms, at most so many.
void keep_largest(std::vector<Candidate>& candidates, std::int64_t count) {
    if (std::ssize(candidates) <= count) return;
    std::nth_element(candidates.begin(), candidates.begin() + (count - 1), candidates.end(), is_before);
    candidates.resize(static_cast<std::size_t>(count));
}

std::vector<Candidate> candidates_of(std::span<const double> norms, std::int64_t first) {
    std::vector<Candidate> out;
    out.reserve(norms.size());
    for (const double norm : norms) out.push_back({norm, first + std::ssize(out)});
    return out;
}

/// @param largest  of `all` targets, as many as are certain
TargetSample sample_with(const std::vector<Candidate>& largest, std::int64_t all, std::int64_t drawn) {
    TargetSample sample{.rows = {}, .certain = std::ssize(largest)};
    for (const auto& one : largest) sample.rows.push_back(one.row);
    std::sort(sample.rows.begin(), sample.rows.end());
    std::set<std::int64_t> taken(sample.rows.begin(), sample.rows.end());
    RandomStream random(seed, purpose, 0);
    while (std::ssize(sample.rows) < sample.certain + drawn) {
        const auto row = static_cast<std::int64_t>(random.next_uniform() * static_cast<double>(all));
        if (taken.insert(row).second) sample.rows.push_back(row);
    }
    return sample;
}

TargetSample all_targets(std::int64_t count) {
    TargetSample sample{.rows = std::vector<std::int64_t>(static_cast<std::size_t>(count)), .certain = count};
    std::iota(sample.rows.begin(), sample.rows.end(), std::int64_t{0});
    return sample;
}

} // namespace

TargetSample sample_targets(std::span<const double> norms, std::int64_t certain, std::int64_t drawn) {
    const auto all = std::ssize(norms);
    if (all <= certain + drawn) return all_targets(all);
    auto largest = candidates_of(norms, 0);
    keep_largest(largest, certain);
    return sample_with(largest, all, drawn);
}

TargetSample sample_targets(comm::Transport& ranks, std::span<const double> norms, std::int64_t first,
                            std::int64_t all, std::int64_t certain, std::int64_t drawn) {
    if (all <= certain + drawn) return all_targets(all);
    auto mine = candidates_of(norms, first);
    keep_largest(mine, certain);
    auto largest = comm::all_gathered(ranks, std::span<const Candidate>(mine),
                                      comm::all_values(ranks, static_cast<std::int64_t>(mine.size())));
    keep_largest(largest, certain);
    return sample_with(largest, all, drawn);
}

namespace {

/// Whether a few of the exact values, computed more precisely, are so near to what they were that the errors
/// which these tell are right to a few percent.
bool judge_well(const std::vector<Judged>& outputs, const ExactRows& exact, const ExactValues& values) {
    constexpr std::size_t few = 4;
    constexpr double share = 0.03;
    std::vector<std::int64_t> rows;
    for (const auto& [row, numbers] : exact) rows.push_back(row);
    ExactRows precise;
    for (std::size_t k = 0; k < few; ++k) precise[rows[k * rows.size() / few]];
    values.checking(precise);
    const auto mean = [](const std::vector<double>& differences) {
        return length(differences.data(), differences.size()) / std::sqrt(differences.size());
    };
    return std::all_of(outputs.begin(), outputs.end(), [&](const Judged& output) {
        std::vector<double> of_values, of_sum;
        for (const auto& [row, numbers] : precise)
            of_values.push_back(output.factor(row) * norm_of(output, exact.at(row).data() + output.first, 1.0,
                                                             numbers.data() + output.first));
        for (std::size_t s = 0; s < output.sample.rows.size(); ++s) {
            const auto row = output.sample.rows[s];
            of_sum.push_back(norm_of(output, output.sampled.data() + s * output.width,
                                     output.sampled_factors[s], exact.at(row).data() + output.first));
        }
        return mean(of_values) <= share * mean(of_sum);
    });
}

} // namespace

std::vector<OutputError> verify_with(const VerifyTask& task, std::span<const ComputedOutput> computed,
                                     const ExactValues& exact_values) {
    std::vector<OutputError> errors;
    if (task.problem->targets == 0) return errors;
    std::vector<Judged> outputs;
    std::vector<ComparedOutput> compared;
    ExactRows exact;
    for (const auto& output : computed) {
        outputs.push_back(judged(task, output));
        for (const auto row : outputs.back().sample.rows) exact[row];
        const double least = exact_values.least(output.output);
        compared.push_back({.output = output.output,
                            .first = outputs.back().first,
                            .width = outputs.back().width,
                            .size = output.factors.empty() ? size_of(task, outputs.back(), least) : 0.0});
    }
    exact_values.rows(compared, exact);
    if (exact_values.checking && !judge_well(outputs, exact, exact_values)) exact_values.precise(exact);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        errors.push_back(error_of(outputs[k], exact, task.problem->kernel->norm,
                                  exact_values.least(computed[k].output),
                                  vanishing(task, outputs[k], computed[k].output)));
        errors.back().output = computed[k].output;
    }
    return errors;
}

namespace {

/// Rows of all ranks, on all of them: what sums over boxes need, where each image acts on all. Outputs have
/// no factors there.
class WholeArrays {
public:
    WholeArrays(const VerifyTask& own, std::span<const ComputedOutput> computed) : task_(own) {
        auto& ranks = *own.ranks;
        const auto& problem = *own.problem;
        const auto gather = [&](std::span<const double> mine, int width) {
            const RowsOfRanks rows(ranks, std::ssize(mine) / width);
            return std::span<const double>(arrays_.emplace_back(rows.gather(ranks, mine, width)));
        };
        task_.ranks = nullptr;
        task_.sharing = own.ranks;
        task_.sources = gather(own.sources, problem.dimension);
        if (!problem.self) task_.targets = gather(own.targets, problem.dimension);
        task_.strengths = gather(own.strengths, problem.kernel->strength.columns);
        for (const auto& output : computed) {
            const int width = problem.kernel->width(*problem.kernel->find(output.output), problem.dimension);
            computed_.push_back({output.output, gather(output.values, width)});
        }
    }

    [[nodiscard]] const VerifyTask& task() const { return task_; }
    [[nodiscard]] std::span<const ComputedOutput> computed() const { return computed_; }

private:
    std::list<std::vector<double>> arrays_; // which keep their places
    VerifyTask task_;
    std::vector<ComputedOutput> computed_;
};

} // namespace

std::vector<OutputError> verify(const VerifyTask& task, std::span<const ComputedOutput> computed) {
    if (task.ranks != nullptr && task.problem->is_periodic()) {
        const WholeArrays whole(task, computed);
        return verify(whole.task(), whole.computed());
    }
    const auto least = [&](Output output) { return least_size(task, output); };
    const auto goal = rough_goal(task);
    if (goal)
        return verify_with(
            task, computed,
            {.rows = [&](std::span<const ComparedOutput> /*compared*/,
                         ExactRows& rows) { compute_periodic_rows(task, rows, *goal); },
             .checking = [&](ExactRows& rows) { compute_periodic_rows(task, rows, checking * *goal); },
             .precise = [&](ExactRows& rows) { compute_periodic_rows(task, rows); },
             .least = least});
    return verify_with(task, computed,
                       {.rows =
                            [&](std::span<const ComparedOutput> compared, ExactRows& rows) {
                                if (task.ranks != nullptr)
                                    compute_exact_rows_on_ranks(task, compared, rows);
                                else if (task.sharing != nullptr)
                                    share_exact_rows(task, compared, rows);
                                else
                                    compute_exact_rows(task, compared, rows);
                            },
                        .checking = {},
                        .precise = {},
                        .least = least});
}

} // namespace farfield
