#include "sums/lattice/images/line_pair.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace farfield {
namespace {

/// Images one by one on either side, and terms of the formula: together right to 1e-15.
constexpr int images = 8, terms = 8;

/// B_2j(1/2)/(2j)! for j ≥ 1: Σ c_j t^2j = (t/2)/sinh(t/2).
constexpr std::array<double, terms> midpoint = [] {
    std::array<double, terms + 1> sinh{}, c{};
    double term = 1.0;
    for (std::size_t j = 0; j <= terms; ++j) {
        const auto twice = 2.0 * static_cast<double>(j);
        sinh[j] = term;
        term /= 4.0 * (twice + 2.0) * (twice + 3.0);
        c[j] = j == 0 ? 1.0 : 0.0;
        for (std::size_t i = 1; i <= j; ++i) c[j] -= sinh[i] * c[j - i];
    }
    std::array<double, terms> out{};
    for (std::size_t j = 0; j < terms; ++j) out[j] = c[j + 1];
    return out;
}();

/// Σ over n ≥ 0 at u + (n + ½)L: `along` is −∂/∂u.
LineValue end_of_line(double u, double square, double length) {
    const double r2 = u * u + square, r = std::sqrt(r2), t = u / r, step = length / r;
    LineValue out{.potential = -std::log(u + r) / length,
                  .along = 1.0 / (r * length),
                  .across = 1.0 / (r * (r + u) * length)};
    double p_before = 1.0, p = t;       // C_k^½ at k = 0 and 1
    double c_before = 1.0, c = 3.0 * t; // C_k^(3/2)
    double scale = step / r;            // k! L^k/r^(k+1)
    for (int k = 1; k < 2 * terms; ++k) {
        const double p_next = ((2 * k + 1) * t * p - k * p_before) / (k + 1);
        const double c_next = ((2 * k + 3) * t * c - (k + 2) * c_before) / (k + 1);
        if ((k & 1) != 0) {
            const double factor = midpoint[static_cast<std::size_t>(k / 2)] * scale;
            out.potential += factor * p;
            out.along += factor * (k + 1) / r * p_next;
            out.across += factor * c / r2;
        }
        p_before = p;
        p = p_next;
        c_before = c;
        c = c_next;
        scale *= (k + 1) * step;
    }
    return out;
}

} // namespace

LineValue line_pair(double x, double square, double length, bool with_own) {
    LineValue out;
    for (int n = -images; n <= images; ++n) {
        if (n == 0 && !with_own) continue;
        const double u = x - n * length;
        const double inverse2 = 1.0 / (u * u + square), inverse = std::sqrt(inverse2);
        out.potential += inverse;
        out.along += u * inverse * inverse2;
        out.across += inverse * inverse2;
    }
    constexpr double past = images + 0.5;
    const auto ahead = end_of_line(past * length - x, square, length);
    const auto behind = end_of_line(past * length + x, square, length);
    out.potential += ahead.potential + behind.potential;
    out.along += behind.along - ahead.along;
    out.across += ahead.across + behind.across;
    return out;
}

} // namespace farfield
