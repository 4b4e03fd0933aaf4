#include "sums/run/plane_spread.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

namespace farfield {
namespace {

using Real = long double;

struct Weights {
    Real sum = 0, squares = 0;
};

Weights checked_weights(std::span<const double> weights) {
    Weights out;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const Real w = weights[i];
        if (w < 0)
            throw InvalidArgument(fmt::format(
                "the weight of row {} is {}; a density takes no negative weights", i, weights[i]));
        out.sum += w;
        out.squares += w * w;
    }
    if (!(out.squares > 0)) throw InvalidArgument("all weights are 0; a density needs points with a weight");
    return out;
}

std::array<Real, 2> mean_of(std::span<const double> points, std::span<const double> weights, Real all) {
    std::array<Real, 2> sum{};
    for (std::size_t i = 0; i < points.size(); ++i)
        sum[i % 2] += static_cast<Real>(weights[i / 2]) * points[i];
    return {sum[0] / all, sum[1] / all};
}

} // namespace

std::array<double, 2> PlaneSpread::widths() const { return {factor * xx, factor * std::hypot(yx, yy)}; }

PlaneSpread plane_spread(std::span<const double> points, std::span<const double> weights) {
    const auto sums = checked_weights(weights);
    const auto mean = mean_of(points, weights, sums.sum);
    Real xx = 0, xy = 0, yy = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const Real dx = points[2 * i] - mean[0], dy = points[2 * i + 1] - mean[1];
        xx += weights[i] * dx * dx;
        xy += weights[i] * dx * dy;
        yy += weights[i] * dy * dy;
    }
    const Real divisor = sums.sum - sums.squares / sums.sum;
    constexpr Real nothing = 1e-13L; // of a variance: what rounding of coordinates leaves
    const Real across = yy - (xx > 0 ? xy * xy / xx : 0);
    if (!(divisor > 0) || !(xx > 0) || !(across > nothing * yy))
        throw InvalidArgument("the points lie on a line or at one place, and Scott's rule divides by their "
                              "extent; give the width of the Gaussians with --sigma");
    const Real lower = std::sqrt(xx / divisor);
    return {.factor = static_cast<double>(std::pow(sums.sum * sums.sum / sums.squares, -1.0L / 6)),
            .mean = {static_cast<double>(mean[0]), static_cast<double>(mean[1])},
            .xx = static_cast<double>(lower),
            .yx = static_cast<double>(xy / divisor / lower),
            .yy = static_cast<double>(std::sqrt(across / divisor))};
}

PlaneSpread round_spread(std::span<const double> points, std::span<const double> weights, double sigma) {
    const auto mean = mean_of(points, weights, checked_weights(weights).sum);
    return {.factor = 1.0,
            .mean = {static_cast<double>(mean[0]), static_cast<double>(mean[1])},
            .xx = sigma,
            .yx = 0.0,
            .yy = sigma};
}

} // namespace farfield
