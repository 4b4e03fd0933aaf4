// Fast multipole sums whose errors are bounded: an order at which the bounds of all outputs are within the
// tolerance. Bounds need the tree and the strengths; what they are compared with, the norms of the outputs,
// is known after a first sum.
#include "sums/fmm/fmm_sum.h"

#include "base/spelling.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/fmm/far_bounds.h"
#include "sums/fmm/near_bounds.h"
#include "sums/kernels/kernel.h"
#include "sums/points/rescale.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace farfield {
namespace {

/// Room for the rounding of the bounds themselves, which are sums of positive terms.
constexpr double of_bounds_themselves = 1.0 + 1e-6;

constexpr Output outputs_by_derivative[bounded_outputs] = {Output::potential, Output::field, Output::hessian};
constexpr std::size_t widths[bounded_outputs] = {1, 3, 6};

std::array<const double*, bounded_outputs> values_of(const DirectResults& results) {
    return {results.potential, results.field, results.hessian};
}

/// Of values scaled to at most 1, so that squares stay in range.
template <class Value>
double norm_of(std::size_t n, const Value& value) {
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double size = std::abs(value(i));
        if (!std::isfinite(size)) return HUGE_VAL;
        largest = std::max(largest, size);
    }
    if (largest == 0.0) return 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += std::pow(value(i) / largest, 2);
    return largest * std::sqrt(sum);
}

/// Numbers of a matrix off its diagonal stand there twice.
double norm_of_output(std::size_t output, const double* values, std::size_t targets) {
    return norm_of(widths[output] * targets, [&](std::size_t i) {
        const auto place = i % 6;
        const bool twice = output == 2 && (place == 1 || place == 2 || place == 4);
        return twice ? std::sqrt(2.0) * values[i] : values[i];
    });
}

/// An error of at most `bound` beside an exact output of norm ≥ `norm` − bound.
double relative_bound(double bound, double norm) {
    if (bound == 0.0) return 0.0;
    return bound < norm ? bound / (norm - bound) : HUGE_VAL;
}

bool is_worse(double a, double b) { return !(a <= b); } // also where it is not a number

} // namespace

OutputBounds FmmSum::target_bounds(const DirectResults& results, int threads) const {
    OutputBounds bounds;
    const auto values = values_of(results);
    for (std::size_t n = 0; n < bounded_outputs; ++n) {
        if (values[n] == nullptr) continue;
        bounds[n].truncation.assign(static_cast<std::size_t>(problem_.targets), 0.0);
        bounds[n].rounding = bounds[n].truncation;
    }
    if (strengths_.empty() || problem_.targets == 0) return bounds;
    FarBounds far({.tree = &*tree_,
                   .lists = &lists_,
                   .order = shape_.order,
                   .strengths = strengths_,
                   .dipoles = dipoles_,
                   .threads = threads});
    far.add_to(bounds);
    add_near_rounding({.tree = &*tree_,
                       .lists = &lists_,
                       .strengths = strengths_,
                       .dipoles = dipoles_,
                       .precision = options_.precision,
                       .threads = threads},
                      bounds);
    return bounds;
}

std::vector<FmmSum::Guarantee> FmmSum::guarantees(const DirectResults& results, int threads) const {
    const auto bounds = target_bounds(results, threads);
    const auto values = values_of(results);
    const auto m = static_cast<std::size_t>(problem_.targets);
    std::vector<Guarantee> out;
    for (std::size_t n = 0; n < bounded_outputs; ++n) {
        if (values[n] == nullptr) continue;
        const auto output = outputs_by_derivative[n];
        const ResultScale scale(of_bounds_themselves, problem_.kernel->result_exponent(
                                                          output, frame_.exponent, strength_exponent_));
        const auto& truncation = bounds[n].truncation;
        const auto& rounding = bounds[n].rounding;
        Guarantee found{.output = output, .norm = norm_of_output(n, values[n], m)};
        found.truncation = scale(norm_of(m, [&](std::size_t i) { return truncation[i]; }));
        found.rounding = scale(norm_of(m, [&](std::size_t i) { return rounding[i]; }));
        double both = scale(norm_of(m, [&](std::size_t i) { return truncation[i] + rounding[i]; }));
        if (float_outputs_.has(output)) {
            const double written = 0x1p-24 * found.norm;
            found.rounding += written;
            both += written;
        }
        found.relative = relative_bound(both, found.norm);
        out.push_back(found);
    }
    return out;
}

bool FmmSum::raise_order(const std::vector<Guarantee>& found) {
    const double tolerance = problem_.tolerance;
    double excess = 1.0;
    for (const auto& one : found) {
        const double most = tolerance / (1.0 + tolerance) * one.norm;
        if (is_worse(one.rounding, 0.95 * most)) return false; // no order helps
        excess = std::max(excess, one.truncation / (most - one.rounding));
    }
    if (options_.order > 0 || shape_.order.order >= most_order(shape_.wide)) return false;
    const int order = order_after_bound(shape_.order.order, shape_.order.separation, excess);
    shape_ = fmm_shape(problem_, options_, cost_table_in_use().table, order);
    prepare();
    return true;
}

void FmmSum::refuse_bound(const Guarantee& worst) const {
    std::string remedies;
    if (options_.order > 0) remedies += fmt::format("leave {} out, ", spelled("order"));
    if (shape_.order.separation == 1) remedies += fmt::format("use {}, ", spelled("separation", "2"));
    if (options_.precision != Precision::float64)
        remedies += fmt::format("use {}, ", spelled("precision", "double"));
    const bool rounding = is_worse(worst.rounding, worst.truncation);
    throw ToleranceNotReached(fmt::format(
        "the bound of the relative error of the {} is {:.2g} at order {} and separation {}, above the "
        "tolerance "
        "{:g}; {}{}take a larger tolerance or leave {} out",
        name_of(worst.output), worst.relative, shape_.order.order, shape_.order.separation,
        problem_.tolerance, rounding ? "most of it is rounding: " : "", remedies, spelled("guaranteed")));
}

void FmmSum::compute_guaranteed(std::span<const double> strengths, std::span<const double> dipoles,
                                const DirectResults& results, SumReport& report, const SumHooks& hooks) {
    double earlier_seconds = 0.0;
    for (;;) {
        report.passes.clear();
        compute_at_order(strengths, dipoles, results, report, hooks);
        Stopwatch clock;
        const auto found = guarantees(results, report.threads);
        report.verify_seconds += clock.lap();
        report.bounds.clear();
        for (const auto& one : found) report.bounds.push_back({one.output, one.relative});
        const auto worst = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
            return is_worse(b.relative, a.relative);
        });
        if (worst == found.end() || worst->relative <= problem_.tolerance) break;
        if (!raise_order(found)) refuse_bound(*worst);
        earlier_seconds +=
            report.prepare_seconds + report.compute_seconds + report.finish_seconds + clock.lap();
    }
    report.prepare_seconds += earlier_seconds;
}

} // namespace farfield
