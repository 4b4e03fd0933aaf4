#include "sums/fmm/softened.h"

#include "backend/threads/parallel.h"
#include "base/last_made.h"
#include "sums/fmm/shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

namespace farfield {
namespace {

/// What polynomials may leave of a pair of nearest cells, beside the error that `digits_of` gives: about what
/// harmonics leave there (1 and 10 for orders 4 to 24).
constexpr double value_beside_sum = 2.0, gradient_beside_sum = 6.0;

double pair_error(const FmmOrder& order) { return std::pow(10.0, -digits_of(order.order, order.separation)); }

double functions_of(int order) { return (order + 1.0) * (order + 2.0) * (order + 3.0) / 6.0; }

int clamped_order(double order) {
    return std::clamp(static_cast<int>(std::ceil(order)), -1, most_polynomial_order);
}

/// The orders that usually suffice for the nearest offset, fitted to those that `degree_for` found for
/// errors of 1e-2 to 1e-6 and ε from 0.05 to 2 widths. Cells that are farther apart need fewer.
double orders_a_digit(const FmmOrder& order) { return order.separation == 1 ? 1.0 : 0.6; }

int usual_difference_order(const FmmOrder& order, double softening) {
    const double nearest = (order.separation + 1.0) / softening;
    const double size = 1.5 / (nearest * nearest); // of the gradient, beside that of 1/r
    const double digits = std::log10(size / (gradient_beside_sum * pair_error(order)));
    return digits < -0.5 ? -1 : clamped_order(2.75 * orders_a_digit(order) * digits + 2.0);
}

int usual_whole_order(const FmmOrder& order, double softening) {
    const double near = 2.0 * softening / (order.separation + 1.0);
    const double digits = -std::log10(gradient_beside_sum * pair_error(order));
    return clamped_order(2.25 * orders_a_digit(order) / (1.0 + 0.25 * near) * digits + 1.5 / (1.0 + near));
}

/// Carried whole, it is cheaper than as a difference beside harmonics.
bool is_whole(const FmmOrder& order, int difference_order, int whole_order) {
    return std::pow(functions_of(whole_order), 2) <
           std::pow(functions_of(difference_order), 2) + std::pow(order.order + 1.0, 4);
}

using Offset = std::array<int, 3>;

/// An expansion over an offset, of the degree that it needs.
struct Expanded {
    std::optional<SmoothKernelExpansion> expansion;
    int degree = -1;
};

/// On one level: what is expanded, and the functions to expand it in.
struct Level {
    double softening; ///< ε in widths of a cell
    bool whole;
    int order; ///< of the nearest offset; −1: nothing

    [[nodiscard]] double kernel(double r2) const {
        const double softened = r2 + softening * softening;
        if (whole) return 1.0 / std::sqrt(softened);
        const double a = std::sqrt(r2); // 1/b − 1/a without cancellation
        const double b = std::sqrt(softened);
        return -softening * softening / (a * b * (a + b));
    }

    /// The degree that an offset needs.
    [[nodiscard]] int degree(const SmoothKernelExpansion& expansion, const Offset& d, double error) const {
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        const double value = 1.0 / std::sqrt(r2 + softening * softening);
        return expansion.degree_for(value_beside_sum * error * value,
                                    gradient_beside_sum * error * std::sqrt(r2) * value * value * value);
    }
};

/// The tables of each order, made when they are first asked for.
class Tables {
public:
    const DifferenceTables& of(int order) {
        const std::lock_guard lock(mutex_);
        auto& table = tables_[static_cast<std::size_t>(order)];
        if (!table) table.emplace(order);
        return *table;
    }

private:
    std::mutex mutex_;
    std::array<std::optional<DifferenceTables>, most_polynomial_order + 1> tables_;
};

// Tries orders from one that may suffice on.
Expanded expand(const Level& level, const FmmOrder& order, const Offset& d, Tables& tables) {
    Expanded out;
    const double share = static_cast<double>(graded_degree(order, d)) / order.order;
    const int first = static_cast<int>(std::ceil(level.order * share)) + (share == 1.0 ? 1 : 0);
    for (int q = std::clamp(first, 1, most_polynomial_order);; q = std::min(q + 2, most_polynomial_order)) {
        out.expansion.emplace(tables.of(q),
                              std::array<double, 3>{static_cast<double>(d[0]), static_cast<double>(d[1]),
                                                    static_cast<double>(d[2])},
                              [&](double r2) { return level.kernel(r2); });
        out.degree = level.degree(*out.expansion, d, pair_error(order));
        if (out.degree <= q) return out;
        out.degree = q;
        if (q == most_polynomial_order) return out;
    }
}

/// A level on its own, with the order that usually suffices.
Level usual_level(const FmmOrder& order, double softening, bool whole = false) {
    const int difference = usual_difference_order(order, softening);
    const int all = usual_whole_order(order, softening);
    whole = whole || is_whole(order, difference, all);
    return {softening, whole, whole ? all : difference};
}

// Below a level that is carried whole, all are.
std::vector<Level> levels_of(const SoftenedOrder& order) {
    std::vector<Level> out;
    out.reserve(static_cast<std::size_t>(order.levels));
    for (int level = 0; level < order.levels; ++level)
        out.push_back(
            usual_level(order.order, std::ldexp(order.softening, level), !out.empty() && out.back().whole));
    return out;
}

/// Offsets of the coarsest grid occur on no other level.
bool occurs(const FmmOrder& order, const Offset& d, std::size_t level) {
    return level == 0 || *std::max_element(d.begin(), d.end()) <= 2 * order.separation + 1;
}

/// Multiply-adds of a cell, or numbers of all operators: mirror images and lower orders of far offsets
/// together.
double operator_numbers(int order) {
    constexpr double offsets_by_functions = 15.0;
    return order < 0 ? 0.0 : offsets_by_functions * std::pow(functions_of(order), 2);
}

/// The offset with its components in falling order, and where each axis went.
struct SortedOffset {
    explicit SortedOffset(const Offset& d) : offset(d) {
        std::sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) { return d[a] > d[b]; });
        for (std::size_t k = 0; k < 3; ++k) offset[k] = d[axes[k]];
    }
    [[nodiscard]] Polynomial of(const Polynomial& f) const {
        return {f.degree, {f.of[axes[0]], f.of[axes[1]], f.of[axes[2]]}};
    }

    Offset offset;
    std::array<std::size_t, 3> axes{0, 1, 2};
};

template <class T>
SoftenedOperators<T> make_operators(const SoftenedOrder& order, int threads) {
    const auto levels = levels_of(order);
    const auto classes = offset_classes(order.order);
    std::map<Offset, std::size_t> offsets; // sorted ones: the others follow by an exchange of axes
    for (const auto& of : classes) offsets.emplace(SortedOffset(of.offset).offset, offsets.size());
    std::vector<Expanded> expanded(levels.size() * offsets.size());
    Tables tables;
    parallel_for(threads, static_cast<std::int64_t>(levels.size()), [&](std::int64_t number) {
        const auto level = static_cast<std::size_t>(number);
        for (const auto& [offset, place] : offsets)
            if (occurs(order.order, offset, level))
                expanded[level * offsets.size() + place] = expand(levels[level], order.order, offset, tables);
    });
    int most = 0;
    for (const auto& of : expanded) most = std::max(most, of.degree);
    const PolynomialBasis basis(most, numbers_a_line<T>);
    SoftenedOperators<T> out{{basis, classes}, 0};
    for (std::size_t level = 0; level < levels.size(); ++level) {
        auto& across = out.polynomials.across.emplace_back();
        if (!levels[level].whole) ++out.harmonic_levels;
        for (const auto& of : classes) {
            const SortedOffset sorted(of.offset);
            const auto& found = expanded[level * offsets.size() + offsets.at(sorted.offset)];
            across.emplace_back(basis, of.axes, found.degree, [&](const Polynomial& i, const Polynomial& j) {
                return (*found.expansion)(sorted.of(i), sorted.of(j));
            });
        }
    }
    return out;
}

} // namespace

SoftenedCost softened_cost(const FmmOrder& order, double softening) {
    const auto level = usual_level(order, softening);
    const double functions = level.order < 0 ? 0.0 : functions_of(level.order);
    constexpr double offsets = 28.0; // all 56 classes, with the lower orders of far ones
    return {operator_numbers(level.order), functions, offsets * functions, level.whole};
}

// At the worst ε for so many levels, each of which halves the cells.
SoftenedSize predicted_softened_size(const FmmOrder& order, bool wide, int levels) {
    constexpr int most_exponent = 10; // beyond these ε, of a cell, little is left to expand
    std::vector<double> numbers;
    numbers.reserve(2 * most_exponent + 1);
    SoftenedSize out;
    for (int exponent = -most_exponent; exponent <= most_exponent; ++exponent) {
        const int used = usual_level(order, std::ldexp(1.0, exponent)).order;
        numbers.push_back(operator_numbers(used));
        out.functions = std::max(out.functions, functions_of(used));
    }
    const auto window = std::clamp<std::size_t>(static_cast<std::size_t>(levels), 1, numbers.size());
    double most = 0.0;
    for (auto first = numbers.begin(); numbers.end() - first >= static_cast<std::ptrdiff_t>(window); ++first)
        most = std::max(most, std::accumulate(first, first + static_cast<std::ptrdiff_t>(window), 0.0));
    // expansions stand beside the operators while those are made: in double, of an offset of each mirror
    // image and exchange of axes, and of an order or two more
    out.bytes = most * ((wide ? sizeof(double) : sizeof(float)) + 0.6 * sizeof(double));
    return out;
}

template <class T>
std::shared_ptr<const SoftenedOperators<T>> softened_operators(const SoftenedOrder& order, int threads) {
    static LastMade<SoftenedOrder, SoftenedOperators<T>> kept;
    return kept.find(order, [&] { return make_operators<T>(order, threads); });
}

template std::shared_ptr<const SoftenedOperators<float>> softened_operators(const SoftenedOrder&, int);
template std::shared_ptr<const SoftenedOperators<double>> softened_operators(const SoftenedOrder&, int);

} // namespace farfield
