// King's model of a globular cluster (1966, AJ 71, 64): a lowered Maxwellian of central potential W₀, cut at
// its own tidal radius, in standard N-body units (G = M = 1, virial radius 1, E = −1/4).
#include "dynamics/initial/common.h"
#include "dynamics/initial/king_profile.h"
#include "dynamics/initial/model.h"
#include "math/portable/functions.h"
#include "math/random_deviates.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr double w0_limit = 16.0;

// Radius that holds the mass, and W there.
struct MassShell {
    double x;
    double w;
};

// The cubic through two points with given slopes, at t in [0, 1] of the interval.
double hermite(double t, double h, double y0, double y1, double slope0, double slope1) {
    const double u = 1.0 - t;
    return u * u * ((1.0 + 2.0 * t) * y0 + t * h * slope0) + t * t * ((1.0 + 2.0 * u) * y1 - u * h * slope1);
}

MassShell shell_of_mass(const KingProfile& profile, double mass) {
    const auto after = std::upper_bound(profile.mass.begin() + 1, profile.mass.end() - 1, mass);
    const auto b = static_cast<std::size_t>(after - profile.mass.begin());
    const std::size_t a = b - 1;
    const double h = profile.x[b] - profile.x[a];
    const double centre = king_density(profile.w[0]);
    const auto mass_slope = [&](std::size_t i) {
        return 9.0 * profile.x[i] * profile.x[i] * (king_density(profile.w[i]) / centre);
    };
    const auto w_slope = [&](std::size_t i) {
        return i == 0 ? 0.0 : -profile.mass[i] / (profile.x[i] * profile.x[i]);
    };
    const double slope_a = mass_slope(a);
    const double slope_b = mass_slope(b);
    double low = 0.0;
    double high = 1.0;
    for (int i = 0; i < 50; ++i) {
        const double middle = 0.5 * (low + high);
        (hermite(middle, h, profile.mass[a], profile.mass[b], slope_a, slope_b) < mass ? low : high) = middle;
    }
    const double w = hermite(high, h, profile.w[a], profile.w[b], w_slope(a), w_slope(b));
    return {profile.x[a] + high * h, w > 0.0 ? w : 0.0};
}

// Speed over √2 σ: density u² (e^(W − u²) − 1) on [0, √W].
double draw_king_speed(RandomStream& random, double w) {
    if (w < 1e-10) return 0.0; // on the edge everything is at rest
    const double floor = portable::exp(-w);
    // Bounds of u²(e^(−u²) − e^(−W)): e^(−1), and W(1 − e^(−W))/4 because e^(Ws) − 1 ≤ s(e^W − 1) for s in
    // [0, 1].
    const double bound = std::min(0.36787944117144233, 0.25 * w * (1.0 - floor));
    const double largest = std::sqrt(w);
    while (true) {
        const double u = largest * random.next_uniform();
        if (random.next_uniform() * bound < u * u * (portable::exp(-u * u) - floor)) return u;
    }
}

InitialState make_king(const InitialOptions& options, int threads) {
    require_count(options);
    require_initial(options.w0 >= 0.01 && options.w0 <= w0_limit, "w0", options.w0,
                    "from 0.01 to 16; globular clusters have 3 to 9");
    const KingProfile profile = king_profile(options.w0);
    const double mass = profile.total_mass();
    const double virial_radius = 0.5 * mass * mass / -profile.potential_energy;
    const double length_scale = 1.0 / virial_radius;
    const double velocity_scale = std::sqrt(2.0 * virial_radius / mass);
    Bodies bodies = equal_masses(options.n);
    each_body(options, threads, [&](std::int64_t i, RandomStream random) {
        const MassShell shell = shell_of_mass(profile, mass * random.next_uniform());
        const auto position = scaled(unit_vector(random), shell.x * length_scale);
        const double speed = draw_king_speed(random, shell.w) * velocity_scale;
        set_body(bodies, i, position, scaled(unit_vector(random), speed));
    });
    to_rest(bodies, threads);
    return {std::move(bodies)};
}

} // namespace

const InitialModel king_model{InitialKind::king, "n, seed, w0",
                              "King's tidally cut cluster of central potential W0, in standard N-body units",
                              make_king};

} // namespace farfield
