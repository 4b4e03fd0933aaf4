#include "sums/pme/influence.h"

#include "backend/threads/parallel.h"
#include "math/portable/functions.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace farfield {
namespace {

using std::numbers::pi;

/// Aliases to either side of a wave number. Splines of order 4 leave less than 1e-9 to farther ones.
constexpr int aliases = 8;

/// Sums over the aliases of one axis; U² and its parts multiply over axes.
struct Axis {
    double square = 0.0;   ///< k²
    double weight = 0.0;   ///< Σ U²
    double weighted = 0.0; ///< Σ k² U²
    double damped = 0.0;   ///< Σ U² exp(−(k_m² − k²)/4α²)
};

std::vector<Axis> axis_of(double length, std::int32_t n, int order, double alpha) {
    std::vector<Axis> out(static_cast<std::size_t>(n) / 2 + 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        auto& axis = out[i];
        const double at = static_cast<double>(i) / n; // k h/2π
        const double unit = 2.0 * pi * n / length;
        axis.square = unit * at * unit * at;
        for (int m = -aliases; m <= aliases; ++m) {
            const double alias = at + m, square = unit * alias * unit * alias;
            double factor = 1.0;
            if (i > 0)
                factor = portable::sin(pi * at) / (pi * alias);
            else if (m != 0)
                factor = 0.0;
            double u2 = 1.0;
            for (int p = 0; p < order; ++p) u2 *= factor * factor;
            axis.weight += u2;
            axis.weighted += square * u2;
            axis.damped += u2 * portable::exp((axis.square - square) / (4.0 * alpha * alpha));
        }
    }
    return out;
}

} // namespace

RawVector<double> influence_of(const PeriodicFrame& frame, const Splitting& splitting,
                               const std::array<std::int32_t, 3>& mesh, int order, int threads,
                               const std::function<bool(std::int64_t)>& is_wanted) {
    std::array<std::vector<Axis>, 3> axes;
    for (std::size_t k = 0; k < 3; ++k) axes[k] = axis_of(frame.length[k], mesh[k], order, splitting.alpha);
    const auto nx = axes[0].size(), ny = axes[1].size(), nz = axes[2].size();
    RawVector<double> out(nx * ny * nz);
    const double per_volume = 1.0 / frame.volume();
    parallel_for(threads, static_cast<std::int64_t>(ny * nz), [&](std::int64_t row) {
        if (is_wanted && !is_wanted(row % static_cast<std::int64_t>(ny))) return;
        const auto& z = axes[2][static_cast<std::size_t>(row) / ny];
        const auto& y = axes[1][static_cast<std::size_t>(row) % ny];
        for (std::size_t i = 0; i < nx; ++i) {
            const auto& x = axes[0][i];
            const double square = x.square + y.square + z.square;
            auto& factor = out[static_cast<std::size_t>(row) * nx + i];
            factor = 0.0;
            if (square == 0.0) continue;
            // k_m² G_m is k² G exp(−(k_m² − k²)/4α²), but for the softening, whose share in aliases is small
            const double wanted =
                square * splitting.wave_factor(std::sqrt(square)) * x.damped * y.damped * z.damped;
            const double weighted = x.weighted * y.weight * z.weight + x.weight * y.weighted * z.weight +
                                    x.weight * y.weight * z.weighted;
            factor = per_volume * wanted / (x.weight * y.weight * z.weight * weighted);
        }
    });
    return out;
}

} // namespace farfield
