#include "sums/select/verify.h"

#include "backend/threads/parallel.h"
#include "base/random.h"
#include "sums/select/exact_row.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace farfield {
namespace {

constexpr std::uint64_t seed = 1;
constexpr std::uint32_t purpose = 0x7665; // apart from the numbers that others draw

/// The exact values of all outputs at some targets.
using ExactRows = std::map<std::int64_t, std::vector<double>>;

/// Terms in long double where double's own rounding could be seen, or where it costs little.
bool needs_long_double(const VerifyTask& task, double pairs) {
    const double tolerance = task.problem->tolerance;
    return task.soon ? tolerance < 1e-12 : tolerance < 1e-10 || pairs < 5e7;
}

/// True where exact_row.h has all that is compared.
bool has_fast_row(const VerifyTask& task, std::span<const ComputedOutput> computed) {
    return task.problem->kernel->loop == PairLoop::inverse_distance && task.problem->dimension == 3 &&
           task.dipoles.empty() &&
           std::all_of(computed.begin(), computed.end(), [](const ComputedOutput& output) {
               return output.output == Output::potential || output.output == Output::field;
           });
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
            .own = problem.self ? row : -1,
            .softening = problem.softening,
            .sigma = problem.sigma};
}

template <class Real>
void exact_row(const VerifyTask& task, ExactSum<Real> sum, bool with_hessian, std::int64_t row,
               std::vector<double>& out) {
    std::vector<Real> values(out.size(), Real(0));
    auto exact = exact_task(task, row);
    exact.with_hessian = with_hessian;
    (void)sum(exact, values.data());
    std::copy(values.begin(), values.end(), out.begin());
}

constexpr std::size_t rows_together = 16;

/// Rows that are computed together. One with a number out of the range of a double is left to
/// the plain sum, which says what it is.
void fast_rows(const VerifyTask& task, std::span<ExactRows::value_type* const> rows) {
    const auto& kernel = *task.problem->kernel;
    std::vector<ExactTask> tasks;
    for (const auto* row : rows) tasks.push_back(exact_task(task, row->first));
    const auto sums = inverse_distance_rows(tasks);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        auto& out = rows[k]->second;
        std::size_t first = 0;
        for (const auto& info : kernel.outputs) {
            if (info.output == Output::potential) out[first] = kernel.sign * sums[k].potential;
            for (std::size_t axis = 0; axis < 3 && info.output == Output::field; ++axis)
                out[first + axis] = kernel.sign * sums[k].field[axis];
            first += static_cast<std::size_t>(kernel.width(info, task.problem->dimension));
        }
        if (!std::all_of(out.begin(), out.end(), [](double value) { return std::isfinite(value); }))
            exact_row<double>(task, kernel.exact, false, rows[k]->first, out);
    }
}

void compute_rows(const VerifyTask& task, std::span<const ComputedOutput> computed, bool with_hessian,
                  ExactRows& rows) {
    const auto& problem = *task.problem;
    const auto& kernel = *problem.kernel;
    std::vector<ExactRows::value_type*> list;
    for (auto& row : rows) list.push_back(&row);
    const bool precise =
        needs_long_double(task, static_cast<double>(list.size()) * static_cast<double>(problem.sources));
    for (auto* row : list) row->second.assign(static_cast<std::size_t>(kernel.width(problem.dimension)), 0.0);
    if (!precise && has_fast_row(task, computed)) {
        const auto parts = static_cast<std::int64_t>((list.size() + rows_together - 1) / rows_together);
        return parallel_for(task.threads, parts, [&](std::int64_t part) {
            const auto first = static_cast<std::size_t>(part) * rows_together;
            fast_rows(task, std::span(list).subspan(first, std::min(rows_together, list.size() - first)));
        });
    }
    parallel_for(task.threads, static_cast<std::int64_t>(list.size()), [&](std::int64_t number) {
        auto& [row, values] = *list[static_cast<std::size_t>(number)];
        if (precise)
            exact_row<long double>(task, kernel.exact_long, with_hessian, row, values);
        else
            exact_row<double>(task, kernel.exact, with_hessian, row, values);
    });
}

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
    std::vector<double> norms;
    TargetSample sample;

    [[nodiscard]] double factor(std::int64_t row) const {
        return factors.empty() ? 1.0 : factors[static_cast<std::size_t>(row)];
    }
};

/// Of a row of the computed output, minus `exact` if that is not null.
double norm_of(const Judged& output, std::size_t row, const double* exact) {
    std::vector<double> values(output.width);
    for (std::size_t k = 0; k < output.width; ++k)
        values[k] = output.weights[k] *
                    (output.values[row * output.width + k] -
                     (exact != nullptr ? output.factor(static_cast<std::int64_t>(row)) * exact[k] : 0.0));
    return length(values.data(), values.size());
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
    for (std::size_t row = 0; row * out.width < computed.values.size(); ++row)
        out.norms.push_back(norm_of(out, row, nullptr));
    constexpr double few_pairs = 1e6; // of which all are looked at
    const int share = task.soon ? 2 : 1;
    const auto targets = static_cast<std::int64_t>(out.norms.size());
    const bool all =
        !task.soon && static_cast<double>(targets) * static_cast<double>(problem.sources) <= few_pairs;
    out.sample = sample_targets(out.norms, all ? targets : certain_samples / share, drawn_samples / share);
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

/// What a logarithmic potential changes by at most where the unit of length becomes e times as large; 0 of
/// other outputs. Such a potential may vanish, by the unit alone, and its errors do not.
double unit_dependence(const VerifyTask& task, Output output) {
    const auto& kernel = *task.problem->kernel;
    if (kernel.scaling != Scaling::power_and_log || output != Output::potential) return 0.0;
    const auto columns = static_cast<std::size_t>(kernel.strength.columns);
    double strength = 0.0;
    for (std::size_t column = 0; column < columns; ++column) {
        double total = 0.0;
        double largest = 0.0;
        for (std::size_t i = column; i < task.strengths.size(); i += columns) {
            total += task.strengths[i];
            largest = std::max(largest, std::abs(task.strengths[i]));
        }
        strength = std::max({strength, std::abs(total), largest});
    }
    return strength * std::abs(kernel.sign);
}

/// @param otherwise  what errors are relative to where the output vanishes
OutputError error_of(const Judged& output, const ExactRows& exact, Norm norm, double otherwise) {
    const auto m = static_cast<double>(output.norms.size());
    const auto certain = static_cast<double>(output.sample.certain);
    const auto drawn = static_cast<double>(output.sample.rows.size()) - certain;
    const double largest = *std::max_element(output.norms.begin(), output.norms.end());
    const double unit = largest > 0.0 ? largest : 1.0; // squares of huge or tiny values stay in range
    double squares = 0.0;
    for (const double value : output.norms) squares += value / unit * (value / unit);
    const double size = norm == Norm::largest ? largest : unit * std::sqrt(squares / m);
    constexpr double nothing = 1e-10; // but rounding
    const double scale = size > nothing * otherwise ? size : otherwise;
    double sum = 0.0;
    double worst = 0.0;
    std::vector<std::pair<double, double>> differences;
    for (std::size_t s = 0; s < output.sample.rows.size(); ++s) {
        const auto row = output.sample.rows[s];
        const double difference =
            norm_of(output, static_cast<std::size_t>(row), exact.at(row).data() + output.first);
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
    if (!std::isfinite(largest)) {
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

TargetSample sample_targets(std::span<const double> norms, std::int64_t certain, std::int64_t drawn) {
    const auto m = static_cast<std::int64_t>(norms.size());
    TargetSample sample;
    sample.rows.resize(norms.size());
    std::iota(sample.rows.begin(), sample.rows.end(), std::int64_t{0});
    if (m <= certain + drawn) {
        sample.certain = m;
        return sample;
    }
    const auto is_before = [&](std::int64_t a, std::int64_t b) {
        const double x = norms[static_cast<std::size_t>(a)];
        const double y = norms[static_cast<std::size_t>(b)];
        return x != y ? x > y : a < b;
    };
    std::nth_element(sample.rows.begin(), sample.rows.begin() + (certain - 1), sample.rows.end(), is_before);
    sample.rows.resize(static_cast<std::size_t>(certain));
    std::sort(sample.rows.begin(), sample.rows.end());
    sample.certain = certain;
    std::set<std::int64_t> taken(sample.rows.begin(), sample.rows.end());
    RandomStream random(seed, purpose, 0);
    while (static_cast<std::int64_t>(sample.rows.size()) < certain + drawn) {
        const auto row = static_cast<std::int64_t>(random.next_uniform() * static_cast<double>(m));
        if (taken.insert(row).second) sample.rows.push_back(row);
    }
    return sample;
}

std::vector<OutputError> verify(const VerifyTask& task, std::span<const ComputedOutput> computed) {
    std::vector<OutputError> errors;
    if (task.problem->targets == 0) return errors;
    std::vector<Judged> outputs;
    ExactRows exact;
    for (const auto& output : computed) {
        outputs.push_back(judged(task, output));
        for (const auto row : outputs.back().sample.rows) exact[row];
    }
    const bool with_hessian = std::any_of(computed.begin(), computed.end(), [](const ComputedOutput& output) {
        return output.output == Output::hessian;
    });
    compute_rows(task, computed, with_hessian, exact);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        errors.push_back(error_of(outputs[k], exact, task.problem->kernel->norm,
                                  unit_dependence(task, computed[k].output)));
        errors.back().output = computed[k].output;
    }
    return errors;
}

} // namespace farfield
