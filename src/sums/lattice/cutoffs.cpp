#include "sums/lattice/cutoffs.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace farfield {
namespace {

// The least s ≥ 1 with factor(s) exp(−s²) ≤ goal.
template <class Function>
double exponent_for(double goal, const Function& factor) {
    double s = 1.0;
    for (int i = 0; i < 20; ++i) s = std::sqrt(std::max(1.0, std::log(factor(s) / goal)));
    return s;
}

} // namespace

Cutoffs cutoffs_for(const PeriodicFrame& frame, double sources, double alpha, double goal) {
    const double a = std::cbrt(frame.volume() / std::max(sources, 1.0));
    const double e = frame.softening;
    const double at = std::min(goal * (e > a ? std::sqrt(a / e) : 1.0), 0.5);
    Cutoffs out{.splitting = {.alpha = alpha, .softening = e}};
    const double of_near = exponent_for(at, [&](double s) {
        const double r = s / alpha;
        return std::max(2.0 * std::sqrt(a / r), std::sqrt(r / a) / (s * s));
    });
    const double of_waves = exponent_for(at, [&](double s) {
        return std::max(2.0 * std::sqrt(alpha * a / s), 1.0 / std::sqrt(alpha * a * s * s * s));
    });
    // R = s/α; the waves of softened images fall off like exp(−kε) for k < 2εα², then as their Gaussian
    const double r = of_near / alpha;
    out.near = r > e ? std::sqrt(r * r - e * e) : 0.0;
    const double s2 = of_waves * of_waves, soft = e * alpha;
    out.wave = s2 <= 2.0 * soft * soft ? s2 / e : 2.0 * alpha * std::sqrt(s2 - soft * soft);
    return out;
}

Cutoffs best_cutoffs(const PeriodicFrame& frame, double sources, double goal,
                     const std::function<double(const Cutoffs&)>& seconds) {
    const double shortest = *std::min_element(frame.length.begin(), frame.length.end());
    const double spacing = std::cbrt(frame.volume() / std::max(sources, 1.0));
    const double least = 0.5 / std::cbrt(frame.volume()), most = 20.0 / std::min(spacing, shortest);
    constexpr double factor = 1.09050773266525766; // 2^(1/8)
    Cutoffs best;
    double best_seconds = HUGE_VAL;
    for (double alpha = least; alpha <= most; alpha *= factor) {
        const auto cutoffs = cutoffs_for(frame, sources, alpha, goal);
        const double takes = seconds(cutoffs);
        if (!(takes < best_seconds)) continue;
        best_seconds = takes;
        best = cutoffs;
    }
    return best;
}

double near_images(const PeriodicFrame& frame, double sources, const Cutoffs& cutoffs) {
    constexpr double points_of_a_cell = 8.0;
    const double side =
        std::max(std::cbrt(frame.volume() * points_of_a_cell / std::max(sources, 1.0)), 0.25 * cutoffs.near);
    const double reach = cutoffs.near + 0.45 * side; // of a cell's middle; cells stick out
    return 4.0 / 3.0 * std::numbers::pi * reach * reach * reach * sources / frame.volume() + points_of_a_cell;
}

} // namespace farfield
