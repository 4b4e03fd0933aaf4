#include "sums/pme/mesh_error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace farfield {
namespace {

using std::numbers::pi;

// exp(−κ²/2) of bare images; of softened ones the largest integrand of G, see splitting.h.
double square_of_factor(double kappa2, double softness) {
    const double kappa = std::sqrt(kappa2);
    return kappa < 2.0 * softness ? std::exp(-2.0 * kappa * softness)
                                  : std::exp(-0.5 * kappa2 - 2.0 * softness * softness);
}

} // namespace

// Over κ_x along the axis of an alias and s = κ_y² + κ_z²: d³κ = π dκ_x ds. Three axes are alike.
std::array<double, most_spline_order - least_spline_order + 1> mesh_errors(double spacing, double softness) {
    constexpr int along = 32, across = 24;
    std::array<double, most_spline_order - least_spline_order + 1> out{};
    const double edge = pi / spacing; // of the mesh's waves
    const double range = std::min(edge, 12.0 + 2.0 * softness);
    const double unit = 3.0 * 16.0 * pi * pi * pi / (8.0 * pi * pi * pi);
    const double most_root = std::min(1.5 * edge, 12.0);
    for (int i = 0; i < along; ++i) {
        const double x = range * (i + 0.5) / along;
        for (int j = 0; j < across; ++j) {
            const double root = most_root * (j + 0.5) / across; // s = root²
            const double s = root * root, kappa2 = x * x + s;
            const double weight = unit * 2.0 * range / along * 2.0 * root * most_root / across *
                                  square_of_factor(kappa2, softness) / kappa2;
            for (const double sign : {-1.0, 1.0}) {
                const double alias = x + sign * 2.0 * edge;
                const double ratio2 = x * x / (alias * alias);
                double power = ratio2 * ratio2 * ratio2 * ratio2; // of order 4
                for (auto& error : out) {
                    // shares add up to no more than all
                    const double share = power * ((alias * alias + s) / kappa2 + 1.0);
                    error += weight * share / (1.0 + share);
                    power *= ratio2;
                }
            }
        }
    }
    // waves beyond the mesh's
    double beyond = 0.0;
    for (int i = 0; i < along; ++i) {
        const double x = edge + 6.0 * (i + 0.5) / along;
        for (int j = 0; j < across; ++j) {
            const double root = 6.0 * (j + 0.5) / across, kappa2 = x * x + root * root;
            beyond += unit * 2.0 * 6.0 / along * 2.0 * root * 6.0 / across *
                      square_of_factor(kappa2, softness) / kappa2;
        }
    }
    for (auto& error : out) error += beyond;
    return out;
}

} // namespace farfield
