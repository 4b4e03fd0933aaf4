#include "sums/around/spread.h"

#include "base/spelling.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

namespace farfield {
namespace {

using Real = long double; // squares of any coordinate, and powers of them, stay in range

std::string axis_name(int axis, int dimension) {
    return dimension <= 3 ? std::string(1, "xyz"[axis]) : fmt::format("x{}", axis + 1);
}

std::string bandwidth_remedy() {
    return fmt::format("give a width of the Gaussians in place of the rule ({})", spelled("sigma"));
}

[[noreturn]] void refuse_flat(const Spread& spread, int axis) {
    const auto name = axis_name(axis, spread.dimension);
    if (axis == 0)
        throw InvalidArgument(fmt::format(
            "the points lie at one {}, and the rule divides by their extent; {}", name, bandwidth_remedy()));
    throw InvalidArgument(fmt::format("the points lie on a line, or in another flat of fewer dimensions than "
                                      "they have coordinates: {} follows from those before it, and the rule "
                                      "divides by the extent across; leave {} out or {}",
                                      name, name, bandwidth_remedy()));
}

/// L of C = L Lᵀ. @throws where rounding is all that is left of a diagonal.
void factorise(Spread& spread, const std::array<Real, most_entries>& covariance) {
    constexpr Real nothing = 1e-13L; // of a variance: what rounding of coordinates leaves
    for (int row = 0; row < spread.dimension; ++row)
        for (int column = 0; column <= row; ++column) {
            Real rest = covariance[spread.place(row, column)];
            for (int k = 0; k < column; ++k) rest -= spread.at(row, k) * spread.at(column, k);
            if (column < row) {
                spread.lower[spread.place(row, column)] = rest / spread.at(column, column);
                continue;
            }
            if (!(rest > nothing * covariance[spread.place(row, row)])) refuse_flat(spread, row);
            spread.lower[spread.place(row, row)] = std::sqrt(rest);
        }
}

} // namespace

WeightSums weight_sums(std::span<const double> weights) {
    WeightSums out;
    out.least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double w = weights[i];
        if (w < 0.0)
            throw InvalidArgument(fmt::format("the weight of row {} is {}; a density takes no negative "
                                              "weights: remove the row or give it a weight ≥ 0",
                                              i, w));
        out.sum += w;
        out.squares += static_cast<Real>(w) * w;
        if (w > 0.0) ++out.positive;
        out.least = std::min(out.least, w);
        if (w > out.most) {
            out.most = w;
            out.heaviest = static_cast<std::int64_t>(i);
        }
    }
    if (out.positive == 0) throw InvalidArgument("all weights are 0; a density needs points with a weight");
    if (!(out.sum <= std::numeric_limits<double>::max()))
        throw InvalidArgument("the sum of the weights is beyond a double; multiply all of them by 1e-100, "
                              "which changes no density");
    return out;
}

std::vector<double> Spread::widths() const {
    std::vector<double> out;
    for (int row = 0; row < dimension; ++row) {
        Real variance = 0;
        for (int k = 0; k <= row; ++k) variance += at(row, k) * at(row, k);
        out.push_back(static_cast<double>(factor * std::sqrt(variance)));
    }
    return out;
}

long double Spread::volume() const {
    constexpr Real root_of_two_pi = 2.50662827463100050241576528481104525L;
    Real out = 1;
    for (int k = 0; k < dimension; ++k) out *= root_of_two_pi * factor * at(k, k);
    return out;
}

std::vector<double> Spread::whitened(std::span<const double> points) const {
    std::vector<double> out(points.begin(), points.end());
    if (!whitens) return out;
    const auto d = static_cast<std::size_t>(dimension);
    std::array<Real, most_dimensions> u{};
    for (std::size_t i = 0; i < points.size(); i += d)
        for (std::size_t row = 0; row < d; ++row) {
            Real rest = points[i + row] - mean[row];
            for (std::size_t k = 0; k < row; ++k) rest -= lower[row * d + k] * u[k];
            u[row] = rest / lower[row * d + row];
            out[i + row] = static_cast<double>(u[row]);
        }
    return out;
}

std::array<long double, most_dimensions> Spread::gradient(const double* whitened) const {
    std::array<Real, most_dimensions> out{};
    for (int row = dimension - 1; row >= 0; --row) {
        const auto k = static_cast<std::size_t>(row);
        Real rest = whitened[k];
        for (int below = row + 1; below < dimension; ++below)
            rest -= at(below, row) * out[static_cast<std::size_t>(below)];
        out[k] = rest / at(row, row);
    }
    return out;
}

Spread spread_by_rule(BandwidthRule rule, std::span<const double> points, int dimension,
                      std::span<const double> weights, const WeightSums& sums) {
    const auto d = static_cast<std::size_t>(dimension);
    if (sums.positive < dimension + 1)
        throw InvalidArgument(fmt::format(
            "{} with a weight: they are at one place, on a line or in another flat; a rule for the width "
            "needs at least {} in {} dimension{}: {}",
            sums.positive == 1 ? "there is only 1 point"
                               : fmt::format("there are only {} points", sums.positive),
            dimension + 1, dimension, dimension == 1 ? "" : "s", bandwidth_remedy()));
    Spread out{.dimension = dimension, .whitens = true};
    for (std::size_t i = 0; i < weights.size(); ++i)
        for (std::size_t k = 0; k < d; ++k)
            out.mean[k] += weights[i] / sums.sum * static_cast<Real>(points[i * d + k]);
    std::array<Real, most_entries> covariance{};
    std::array<Real, most_dimensions> away{};
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const Real share = weights[i] / sums.sum;
        for (std::size_t row = 0; row < d; ++row) {
            away[row] = points[i * d + row] - out.mean[row];
            for (std::size_t k = 0; k <= row; ++k) covariance[row * d + k] += share * away[row] * away[k];
        }
    }
    const Real n = sums.effective();
    for (auto& number : covariance) number /= 1 - 1 / n;
    factorise(out, covariance);
    const Real points_of_rule = rule == BandwidthRule::silverman ? n * (dimension + 2) / 4 : n;
    out.factor = std::pow(points_of_rule, -1.0L / (dimension + 4));
    return out;
}

Spread round_spread(int dimension, double sigma) {
    Spread out{.dimension = dimension, .factor = sigma};
    for (int k = 0; k < dimension; ++k) out.lower[out.place(k, k)] = 1;
    return out;
}

} // namespace farfield
