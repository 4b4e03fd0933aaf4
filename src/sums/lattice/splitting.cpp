#include "sums/lattice/splitting.h"

#include "math/portable/functions.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace farfield {
namespace {

using std::numbers::pi;

/// Nodes and weights of ∫₀^∞ e^(−v) h(v) dv for a smooth h that rises from 0 or more to 1, however early: the
/// trapezoidal rule in w, with v = exp(w − exp(−w)) (Mori's double exponential formula).
struct LaguerreRule {
    static constexpr double step = 0x1p-4;
    static constexpr int first = -60, last = 64; // w from −3.75 to 4
    std::array<double, last - first + 1> node{}, weight{};

    LaguerreRule() {
        for (int n = first; n <= last; ++n) {
            const double w = step * n;
            const double tail = portable::exp(-w);
            const double v = portable::exp(w - tail);
            node[static_cast<std::size_t>(n - first)] = v;
            weight[static_cast<std::size_t>(n - first)] = step * portable::exp(-v) * v * (1.0 + tail);
        }
    }
};

template <class Function>
double laguerre_integral(const Function& h) {
    static const LaguerreRule rule;
    double sum = 0.0;
    for (std::size_t n = 0; n < rule.node.size(); ++n) sum += rule.weight[n] * h(rule.node[n]);
    return sum;
}

} // namespace

double Splitting::wave_factor(double k) const {
    const double square = k * k;
    const double bare = 4.0 * pi / square * portable::exp(-square / (4.0 * alpha * alpha));
    if (softening == 0.0) return bare;
    // u = 1/α² + 4v/k²
    const double least = 1.0 / (alpha * alpha), unit = 4.0 / square;
    const double soft = softening * softening;
    return bare * laguerre_integral([&](double v) { return portable::exp(-soft / (least + unit * v)); });
}

double Splitting::smooth_part_at_zero() const {
    const double x = alpha * softening;
    if (x == 0.0) return 2.0 * alpha / std::sqrt(pi);
    return std::erf(x) / softening;
}

double Splitting::near_integral() const {
    const double x = alpha * softening;
    const double bare = pi / (alpha * alpha);
    if (x == 0.0) return bare;
    // With w = 1/u: ∫_{α²}^∞ w⁻² exp(−ε²w) dw, and w = α² + v/ε².
    const double x2 = x * x;
    return bare * portable::exp(-x2) *
           (x2 < 1e-3 ? 1.0 + x2 * portable::exp(x2) * std::expint(-x2)
                      : laguerre_integral([&](double v) { return x2 / ((x2 + v) * (x2 + v)); }));
}

} // namespace farfield
