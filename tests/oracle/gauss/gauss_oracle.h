// Sums of Gaussians in long double, written from the definition: φ = Σ q exp(−|x − y|²/2σ²) and ∇φ, in any
// dimension, for several vectors of strengths. And points to try.
#pragma once

#include <farfield/array.h>
#include <farfield/sum.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace farfield::oracle {

using Numbers = std::vector<double>;

inline ConstArrayView rows_of_numbers(const Numbers& values, std::size_t columns) {
    return matrix_view(std::span<const double>(values), static_cast<std::int64_t>(columns));
}

struct GaussValues {
    std::vector<long double> potential; ///< M×k
    std::vector<long double> gradient;  ///< M×(k·d)
};

struct GaussCase {
    std::size_t dimension = 3, vectors = 1;
    double sigma = 0.1;
    Numbers sources{}, strengths{};
    Numbers targets{}; ///< empty: the sources
    bool without_own = false;

    [[nodiscard]] const Numbers& targets_used() const { return targets.empty() ? sources : targets; }
    [[nodiscard]] std::size_t source_count() const { return sources.size() / dimension; }
    [[nodiscard]] std::size_t target_count() const { return targets_used().size() / dimension; }

    /// Of target i.
    void add_row(std::size_t i, GaussValues& out) const {
        const auto d = dimension;
        std::vector<long double> potential(vectors, 0.0L), gradient(vectors * d, 0.0L);
        // pointers: for sanitizers tests are not optimised, and each [] of a vector is a call
        const double* target = targets_used().data() + d * i;
        const std::size_t n = source_count();
        const long double width = sigma;
        for (std::size_t j = 0; j < n; ++j) {
            if (without_own && j == i) continue;
            const double* source = sources.data() + d * j;
            long double r2 = 0.0L;
            for (std::size_t k = 0; k < d; ++k) {
                const long double u = static_cast<long double>(target[k]) - source[k];
                r2 += u * u;
            }
            const long double value = std::exp(-r2 / (2.0L * width * width));
            for (std::size_t v = 0; v < vectors; ++v) {
                const long double term = value * strengths[vectors * j + v];
                potential[v] += term;
                for (std::size_t k = 0; k < d; ++k)
                    gradient[v * d + k] +=
                        term / (width * width) * (source[k] - static_cast<long double>(target[k]));
            }
        }
        out.potential.insert(out.potential.end(), potential.begin(), potential.end());
        out.gradient.insert(out.gradient.end(), gradient.begin(), gradient.end());
    }
    /// Of every `step`-th target.
    [[nodiscard]] GaussValues exact(std::size_t step = 1) const {
        GaussValues out;
        for (std::size_t i = 0; i < target_count(); i += step) add_row(i, out);
        return out;
    }

    [[nodiscard]] SumResult computed(SumOptions options, OutputSet wanted = {}) const {
        options.kernel = Kernel::gauss;
        options.sigma = sigma;
        options.self_term = without_own ? SelfTerm::exclude : SelfTerm::include;
        SumPlan plan = targets.empty() ? SumPlan(rows_of_numbers(sources, dimension), options)
                                       : SumPlan(rows_of_numbers(sources, dimension),
                                                 rows_of_numbers(targets, dimension), options);
        SumResult result;
        SumOutputs views;
        const auto room = [&](Output output, Numbers& values, std::size_t width) {
            if (!wanted.empty() && !wanted.has(output)) return;
            values.assign(target_count() * width, 0.0);
            views.of(output) = matrix_view(std::span<double>(values), static_cast<std::int64_t>(width));
        };
        room(Output::potential, result.potential, vectors);
        room(Output::gradient, result.gradient, vectors * dimension);
        plan.execute(rows_of_numbers(strengths, vectors), views);
        result.report = plan.report();
        return result;
    }
};

/// max |computed − exact| / max |exact| over rows of `width` numbers, each by its length, and `least` in
/// place of a smaller maximum.
inline double largest_error(const Numbers& computed, const std::vector<long double>& exact, std::size_t width,
                            long double least = 0.0L) {
    if (computed.size() != exact.size()) return HUGE_VAL;
    long double error = 0.0L, largest = least;
    for (std::size_t i = 0; i < exact.size(); i += width) {
        long double of_difference = 0.0L, of_value = 0.0L;
        for (std::size_t k = i; k < i + width; ++k) {
            const long double difference = static_cast<long double>(computed[k]) - exact[k];
            of_difference += difference * difference;
            of_value += exact[k] * exact[k];
        }
        if (!(of_difference >= 0.0L)) return HUGE_VAL;
        error = std::max(error, std::sqrt(of_difference));
        largest = std::max(largest, std::sqrt(of_value));
    }
    return error == 0.0L ? 0.0 : static_cast<double>(error / largest);
}

/// The largest row.
inline long double largest_length(const Numbers& values, std::size_t width) {
    long double largest = 0.0L;
    for (std::size_t i = 0; i < values.size(); i += width) {
        long double square = 0.0L;
        for (std::size_t k = i; k < i + width; ++k) square += static_cast<long double>(values[k]) * values[k];
        largest = std::max(largest, std::sqrt(square));
    }
    return largest;
}

/// Every `step`-th row of the outputs.
inline SumResult sampled(const GaussCase& points, const SumResult& result, std::size_t step) {
    SumResult out;
    const auto take = [&](const Numbers& from, Numbers& to, std::size_t width) {
        for (std::size_t i = 0; i < from.size(); i += step * width)
            to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(i),
                      from.begin() + static_cast<std::ptrdiff_t>(i + width));
    };
    take(result.potential, out.potential, points.vectors);
    take(result.gradient, out.gradient, points.vectors * points.dimension);
    return out;
}

/// The largest error of the potential and that of the gradient at every `step`-th target, each relative to
/// the largest value at all targets, or to what makes a rounding of Σ|q|, of Σ|q|/(σ√e) for gradients, an
/// error of the tolerance. `exact` has the rows of those targets, so that of others the computed value
/// counts, up to four times the largest exact one.
struct GaussErrors {
    double potential = 0.0, gradient = 0.0;
};
inline GaussErrors errors_of(const GaussCase& points, const SumResult& result, const GaussValues& exact,
                             double tolerance, std::size_t step = 1) {
    long double sum = 0.0L;
    for (const double q : points.strengths) sum += std::abs(q);
    const auto least = 0x1p-53L * sum / tolerance;
    const auto few = sampled(points, result, step);
    const auto error = [&](const Numbers& all, const Numbers& at, const std::vector<long double>& truth,
                           std::size_t width, long double smallest) {
        if (at.empty()) return 0.0;
        const Numbers rounded(truth.begin(), truth.end());
        const auto largest = std::min(largest_length(all, width), 4.0L * largest_length(rounded, width));
        return largest_error(at, truth, width, std::max(smallest, largest));
    };
    return {error(result.potential, few.potential, exact.potential, points.vectors, least),
            error(result.gradient, few.gradient, exact.gradient, points.vectors * points.dimension,
                  least * std::exp(-0.5L) / points.sigma)};
}

enum class Layout : std::uint8_t { uniform, clustered, line, circle, duplicated };
inline constexpr Layout layouts[] = {Layout::uniform, Layout::clustered, Layout::line, Layout::circle,
                                     Layout::duplicated};

class GaussRandom {
public:
    explicit GaussRandom(std::uint64_t seed) : engine_(seed) {}
    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(engine_);
    }
    double normal() { return std::normal_distribution<double>()(engine_); }

    /// About the unit cube.
    Numbers points(Layout layout, std::size_t n, std::size_t d) {
        Numbers out, centres;
        for (std::size_t k = 0; k < 5 * d; ++k) centres.push_back(uniform(0.1, 0.9));
        for (std::size_t i = 0; i < n; ++i) {
            const double t = uniform(0.0, 1.0);
            const auto cluster = static_cast<std::size_t>(uniform(0.0, 4.999));
            for (std::size_t k = 0; k < d; ++k) {
                double x = uniform(0.0, 1.0);
                if (layout == Layout::clustered) x = centres[cluster * d + k] + 0.01 * normal();
                if (layout == Layout::line) x = t;
                if (layout == Layout::circle)
                    x = k > 1 ? 0.5
                              : 0.5 + 0.5 * (k == 0 ? std::cos(6.2831853 * t) : std::sin(6.2831853 * t));
                if (layout == Layout::duplicated) x = centres[cluster * d + k];
                out.push_back(x);
            }
        }
        return out;
    }
    /// Of both signs, or all positive.
    Numbers strengths(std::size_t n, bool is_signed = true) {
        Numbers out;
        for (std::size_t i = 0; i < n; ++i) out.push_back(uniform(is_signed ? -1.0 : 0.1, 1.0));
        return out;
    }

private:
    std::mt19937_64 engine_;
};

inline std::string name_of_layout(Layout layout) {
    constexpr const char* names[] = {"uniform", "clustered", "line", "circle", "duplicated"};
    return names[static_cast<std::size_t>(layout)];
}

} // namespace farfield::oracle
