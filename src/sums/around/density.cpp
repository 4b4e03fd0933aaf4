// A density as a sum around a sum: read, spread, whiten, sum, divide. Formulas: farfield/density.h.
#include <farfield/density.h>

#include "base/arrays.h"
#include "base/names.h"
#include "base/stopwatch.h"
#include "sums/around/density_input.h"
#include "sums/around/left_out.h"
#include "sums/around/sigma_parts.h"

#include <farfield/error.h>
#include <farfield/sum_sigmas.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace farfield {

namespace {
constexpr NameTable<3> bandwidth_names{"scott", "silverman", "sigma"};
} // namespace
FF_DEFINE_ENUM_NAMES(BandwidthRule, bandwidth_names)

namespace {

using Real = long double; // divisors of any points in six dimensions stay in range

/// Bytes of what is kept beside the plan.
double own_bytes(const DensityInput& input, bool with_gradient) {
    const double d = input.dimension;
    const double numbers = (2.0 * d + 2.0) * static_cast<double>(input.count()) +
                           ((input.self ? 0.0 : 2.0 * d) + 1.0 + (with_gradient ? d : 0.0)) *
                               static_cast<double>(input.target_count());
    return 8.0 * numbers;
}

/// Sums of Gaussians in the coordinates of the spread.
struct WhiteSums {
    std::vector<double> values;   ///< M
    std::vector<double> gradient; ///< M×d, or empty
};

/// Weights as strengths whose sum is about 1: times a power of two, exactly. A Gaussian of a width of its own
/// is as much lower as it is larger than one of the width that the sum is divided by.
std::vector<double> strengths_of(const DensityInput& input, const Spread& spread, int exponent) {
    std::vector<double> out;
    out.reserve(input.weights.size());
    for (const double w : input.weights) out.push_back(std::ldexp(w, -exponent));
    for (std::size_t i = 0; i < input.sigmas.size(); ++i)
        out[i] = static_cast<double>(out[i] * std::pow(spread.factor / input.sigmas[i], input.dimension));
    return out;
}

/// In the widths that the options name; of widths of their own the smallest stands for all.
Spread spread_for(const DensityInput& input, const DensityOptions& options, const WeightSums& sums) {
    if (!input.sigmas.empty())
        return round_spread(input.dimension, group_by_sigma(input.sigmas).front().sigma);
    if (options.bandwidth == BandwidthRule::sigma) return round_spread(input.dimension, options.sum.sigma);
    return spread_by_rule(options.bandwidth, input.points, input.dimension, input.weights, sums);
}

SumOptions sum_options(const DensityPoints& given, const DensityOptions& options, const Spread& spread,
                       double growth, bool with_gradient) {
    auto out = options.sum;
    out.sigma = is_there(given.sigmas) ? 0.0 : static_cast<double>(spread.factor);
    out.tolerance /= growth;
    out.outputs = with_gradient ? Output::potential | Output::gradient : OutputSet(Output::potential);
    if (out.device.kind == DeviceKind::automatic && given.points.device.type == DeviceType::cuda)
        out.device = {.kind = DeviceKind::cuda, .gpus = {given.points.device.index}};
    return out;
}

/// @param factors  of each target that the sum there is multiplied by; empty: none
WhiteSums sum_whitened(const DensityInput& input, const Spread& spread, std::span<const double> strengths,
                       std::span<const double> factors, const SumOptions& options, const SumHooks& hooks,
                       SumReport& report) {
    const auto sources = spread.whitened(input.points);
    const auto targets = spread.whitened(input.targets);
    const auto rows = [&](const std::vector<double>& values) {
        return matrix_view(std::span<const double>(values), input.dimension);
    };
    WhiteSums out;
    if (!factors.empty()) {
        report = sum_left_out({.dimension = input.dimension,
                               .points = sources,
                               .strengths = strengths,
                               .factors = factors,
                               .options = options},
                              hooks, out.values, out.gradient);
        return out;
    }
    SumOutputs outputs;
    out.values.resize(static_cast<std::size_t>(input.target_count()));
    outputs.potential = std::span<double>(out.values);
    if (options.outputs.has(Output::gradient)) {
        out.gradient.resize(out.values.size() * static_cast<std::size_t>(input.dimension));
        outputs.gradient = matrix_view(std::span<double>(out.gradient), input.dimension);
    }
    if (!input.sigmas.empty()) {
        SigmasInput several{.sources = rows(sources),
                            .strengths = strengths,
                            .sigmas = std::span<const double>(input.sigmas)};
        if (!input.self) several.targets = rows(targets);
        report = sum_sigmas(several, options, outputs, hooks).sum;
        return out;
    }
    auto plan = input.self ? SumPlan(rows(sources), options) : SumPlan(rows(sources), rows(targets), options);
    plan.execute(ConstArrayView(strengths), outputs, hooks);
    report = plan.report();
    return out;
}

[[noreturn]] void refuse_range(Real size, const char* what) {
    throw InvalidArgument(
        fmt::format("{} is about 1e{:.0f}, which a double does not hold; give the points in "
                    "another unit of length",
                    what, static_cast<double>(std::log10(size))));
}

/// @throws InvalidArgument where a double does not hold the middle of a Gaussian, or its slope. Far from all
/// points a density may be as small as it likes.
void require_unit(const Spread& spread, bool with_gradient) {
    const Real top = 1 / spread.volume();
    constexpr Real least = std::numeric_limits<double>::min();
    if (top < least) refuse_range(top, "the density of a Gaussian");
    const auto widths = spread.widths();
    const Real slope = top / *std::max_element(widths.begin(), widths.end());
    if (with_gradient && slope < least) refuse_range(slope, "the gradient of a Gaussian");
}

/// Divides in place, and turns gradients to the axes of the points. `divisor(row)`: of a target's sum.
template <class Divisor>
void finish(WhiteSums& sums, const Spread& spread, const Divisor& divisor) {
    const auto d = static_cast<std::size_t>(spread.dimension);
    Real largest = 0, steepest = 0;
    for (std::size_t i = 0; i < sums.values.size(); ++i) {
        const Real by = divisor(static_cast<std::int64_t>(i));
        const Real value = sums.values[i] / by;
        largest = std::max(largest, std::abs(value));
        sums.values[i] = static_cast<double>(value);
        if (sums.gradient.empty()) continue;
        double* const numbers = sums.gradient.data() + i * d;
        const auto turned = spread.gradient(numbers);
        for (std::size_t k = 0; k < d; ++k) {
            const Real slope = turned[k] / by;
            steepest = std::max(steepest, std::abs(slope));
            numbers[k] = static_cast<double>(slope);
        }
    }
    constexpr Real most = std::numeric_limits<double>::max();
    if (largest > most) refuse_range(largest, "the largest density");
    if (steepest > most) refuse_range(steepest, "the largest gradient of the density");
}

DensityReport report_of(const DensityInput& input, const DensityOptions& options, const WeightSums& sums,
                        const Spread& spread) {
    DensityReport out;
    out.bandwidth = options.bandwidth;
    out.factor = spread.whitens ? static_cast<double>(spread.factor) : 1.0;
    out.effective = static_cast<double>(sums.effective());
    out.weight = static_cast<double>(sums.sum);
    if (input.sigmas.empty()) out.widths = spread.widths();
    if (!spread.whitens) return out;
    for (int row = 0; row < input.dimension; ++row)
        for (int column = 0; column < input.dimension; ++column)
            out.cholesky.push_back(static_cast<double>(spread.at(row, column)));
    return out;
}

void write_outputs(const WhiteSums& sums, const DensityOutputs& outputs, std::int64_t m, int dimension) {
    if (outputs.density) write_values(outputs.density, sums.values.data(), m, 1);
    if (outputs.gradient) write_values(outputs.gradient, sums.gradient.data(), m, dimension);
}

void check_outputs(const DensityOutputs& outputs, std::int64_t m, int dimension) {
    const auto check = [&](const ArrayView& view, std::int64_t columns, std::string_view what) {
        if (!view) return;
        check_output(view, m, columns, what);
        require_host(view, what);
    };
    check(outputs.density, 1, "density");
    check(outputs.gradient, dimension, "gradient");
}

} // namespace

DensityReport density(const DensityPoints& given, const DensityOptions& options,
                      const DensityOutputs& outputs, const SumHooks& hooks) {
    Stopwatch watch;
    check_density_options(given, options);
    const bool with_gradient = static_cast<bool>(outputs.gradient);
    const auto input = read_density_input(given);
    check_outputs(outputs, input.target_count(), input.dimension);
    const double bytes = own_bytes(input, with_gradient);
    require_memory(bytes, "density");
    const auto sums = weight_sums(input.weights);
    const auto spread = spread_for(input, options, sums);
    require_unit(spread, with_gradient);
    std::optional<OtherWeights> others;
    if (options.sum.self_term == SelfTerm::exclude) others.emplace(input.weights, sums);
    auto report = report_of(input, options, sums, spread);

    const int exponent = std::ilogb(sums.sum);
    const auto strengths = strengths_of(input, spread, exponent);
    // The tolerance is that of the density: divisors that differ from target to target are for who compares,
    // or make the tolerance of the sum smaller by as much as they differ.
    const bool own_widths = !input.sigmas.empty();
    const double growth = others && own_widths ? others->growth() : 1.0;
    const auto divisor = [&](std::int64_t row) {
        return std::ldexp(others ? others->of(row) : sums.sum, -exponent);
    };
    std::vector<double> factors;
    for (std::int64_t row = 0; others && !own_widths && row < input.count(); ++row)
        factors.push_back(static_cast<double>(1 / divisor(row)));
    const double before = watch.lap();
    auto white = sum_whitened(input, spread, strengths, factors,
                              sum_options(given, options, spread, growth, with_gradient), hooks, report.sum);
    watch.lap();
    report.sum.energy.reset(); // of weights it is no energy
    const Real volume = spread.volume();
    finish(white, spread, [&](std::int64_t row) { return factors.empty() ? volume * divisor(row) : volume; });
    write_outputs(white, outputs, input.target_count(), input.dimension);
    for (auto& error : report.sum.errors)
        for (auto* share : {&error.relative, &error.median, &error.percent_99, &error.maximum})
            *share *= growth;
    report.sum.predicted_bytes += bytes;
    report.sum.prepare_seconds += before;
    report.sum.finish_seconds += watch.lap();
    return report;
}

DensityResult density(const DensityPoints& given, const DensityOptions& options, bool with_gradient) {
    const auto& at = is_there(given.targets) ? given.targets : given.points;
    DensityResult out;
    out.density.resize(static_cast<std::size_t>(std::max<std::int64_t>(0, at.shape[0])));
    DensityOutputs outputs{.density = std::span<double>(out.density)};
    const bool is_matrix = at.ndim == 2 && at.shape[1] >= 1 && at.shape[1] <= most_dimensions;
    if (with_gradient && is_matrix) { // anything else is refused
        out.gradient.resize(out.density.size() * static_cast<std::size_t>(at.shape[1]));
        outputs.gradient = matrix_view(std::span<double>(out.gradient), at.shape[1]);
    }
    out.report = density(given, options, outputs);
    return out;
}

} // namespace farfield
