// Hernquist's sphere (1990, ApJ 356, 359) with isotropic velocities from its distribution function (eq. 17),
// cut at x scale lengths (100 unless told), which keeps the sum of r finite. In standard N-body units, G = M
// = 1 and virial radius 1: the cut model has V = −(x + 4)/(6ax), so the scale length is a = (1 + 4/x)/3.
#include "dynamics/initial/common.h"
#include "dynamics/initial/model.h"
#include "math/random_deviates.h"

#include <cmath>

namespace farfield {
namespace {

constexpr double default_cutoff = 100.0; // in scale lengths
constexpr double least_cutoff = 1.34;    // in virial radii: a 1/r sphere with nothing cut has 4/3

// arcsin q for 0 ≤ q ≤ 1: three halvings of the angle, then the series. Only + − × ÷ √, for the same bits
// everywhere.
double arcsine(double q) {
    double cosine = std::sqrt((1.0 - q) * (1.0 + q));
    for (int i = 0; i < 3; ++i) {
        const double half_cosine = std::sqrt(0.5 * (1.0 + cosine));
        q = q / (2.0 * half_cosine);
        cosine = half_cosine;
    }
    double term = q;
    double sum = q;
    for (int k = 1; k <= 12; ++k) { // q ≤ sin(π/16): the next term is below 2^-60
        term *= q * q * ((2.0 * k - 1.0) / (2.0 * k));
        sum += term / (2.0 * k + 1.0);
    }
    return 8.0 * sum;
}

// Eq. 17 up to a constant factor, as a function of q² = −aE/GM in (0, 1).
double distribution_function(double q2) {
    const double q = std::sqrt(q2);
    const double u = 1.0 - q2;
    double numerator = 0.0;
    if (q2 < 0.04) { // the terms of the closed form cancel: its series
        const double series =
            25.6 + q2 * (-192.0 / 7.0 + q2 * (16.0 / 3.0 + q2 * (8.0 / 11.0 + q2 * (3.0 / 13.0 + q2 * 0.1))));
        numerator = q2 * q2 * q * series;
    } else {
        numerator = 3.0 * arcsine(q) + q * std::sqrt(u) * (1.0 - 2.0 * q2) * (8.0 * q2 * q2 - 8.0 * q2 - 3.0);
    }
    return numerator / (u * u * std::sqrt(u));
}

// Speed at a place of potential −ψ, in units G = M = a = 1. The distribution function grows with the binding
// energy, so f(ψ) bounds it, and candidates are drawn uniformly from the ball of escape speed.
double draw_speed(RandomStream& random, double psi) {
    const double largest = distribution_function(psi);
    while (true) {
        const std::array<double, 3> x{2.0 * random.next_uniform() - 1.0, 2.0 * random.next_uniform() - 1.0,
                                      2.0 * random.next_uniform() - 1.0};
        const double x2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        if (x2 >= 1.0) continue;
        if (random.next_uniform() * largest < distribution_function(psi * (1.0 - x2)))
            return std::sqrt(2.0 * psi * x2);
    }
}

InitialState make_hernquist(const InitialOptions& options) {
    require_count(options);
    const double wanted = options.cutoff_radius;
    require_initial(wanted == 0.0 || (wanted >= least_cutoff && std::isfinite(wanted)), "cutoff_radius",
                    wanted, "at least 1.34 (virial radii), or 0 for 100 scale lengths");
    const double scale_length =
        wanted > 0.0 ? 1.0 / (3.0 - 4.0 / wanted) : (1.0 + 4.0 / default_cutoff) / 3.0;
    const double cutoff = wanted > 0.0 ? wanted / scale_length : default_cutoff;
    const double root_inside = cutoff / (1.0 + cutoff); // √(M(r)/M) = r/(r + a)
    // The mass inside is called 1, so the whole model, whose potential sets the speeds, has 1/root_inside².
    const double velocity_scale = 1.0 / (root_inside * std::sqrt(scale_length));
    Bodies bodies = equal_masses(options.n);
    for (std::int64_t i = 0; i < options.n; ++i) {
        RandomStream random = body_stream(options, i);
        const double root = root_inside * std::sqrt(random.next_open_uniform());
        const double radius = root / (1.0 - root);
        const auto position = scaled(unit_vector(random), radius * scale_length);
        const double speed = draw_speed(random, 1.0 - root) * velocity_scale; // ψ = 1/(1 + r) = 1 − root
        set_body(bodies, i, position, scaled(unit_vector(random), speed));
    }
    to_centre_of_mass(bodies);
    return {std::move(bodies)};
}

} // namespace

const InitialModel hernquist_model{InitialKind::hernquist, "n, seed, cutoff_radius",
                                   "Hernquist's cuspy galaxy, isotropic, in standard N-body units",
                                   make_hernquist};

} // namespace farfield
