// Plummer's model, sampled as Aarseth, Hénon & Wielen (1974, A&A 37, 183) do, in standard N-body units:
// G = M = 1, virial radius 1, E = −1/4, so the scale length is a = 3π/16. The units are those of the smooth
// model: the energy of one sample scatters about −1/4 (by about 1 % for 4096 bodies) and is not rescaled.
// With a cut-off radius the same law is sampled inside it only; the mass there is called 1, and the speeds
// grow with the square root of the mass that the whole model then has.
#include "dynamics/initial/common.h"
#include "dynamics/initial/model.h"
#include "math/portable/functions.h"
#include "math/random_deviates.h"

#include <cmath>

namespace farfield {
namespace {

constexpr double unit_scale_length = 0.5890486225480862;   // 3π/16
constexpr double unit_velocity_scale = 1.3029400317411198; // √(16/3π)

// Speed over escape speed: density q²(1 − q²)^(7/2) on [0, 1), below 0.1 everywhere.
double draw_speed_ratio(RandomStream& random) {
    while (true) {
        const double q = random.next_uniform();
        const double u = 1.0 - q * q;
        if (0.1 * random.next_uniform() < q * q * (u * u * u * std::sqrt(u))) return q;
    }
}

InitialState make_plummer(const InitialOptions& options, int threads) {
    require_count(options);
    require_initial(options.cutoff_radius >= 0.0 && std::isfinite(options.cutoff_radius), "cutoff_radius",
                    options.cutoff_radius, "positive, or 0 for none");
    double mass_inside = 1.0; // M(r)/M = r³/(r² + a²)^(3/2)
    if (options.cutoff_radius > 0.0) {
        const double ratio = unit_scale_length / options.cutoff_radius;
        const double root = std::sqrt(1.0 + ratio * ratio);
        mass_inside = 1.0 / (root * root * root);
    }
    const double speed_unit = unit_velocity_scale / std::sqrt(mass_inside);
    Bodies bodies = equal_masses(options.n);
    each_body(options, threads, [&](std::int64_t i, RandomStream random) {
        const double root = portable::cbrt(random.next_open_uniform() * mass_inside);
        const double radius = root / std::sqrt((1.0 - root) * (1.0 + root)); // (m^(−2/3) − 1)^(−1/2)
        const auto position = scaled(unit_vector(random), radius * unit_scale_length);
        const double escape = std::sqrt(2.0 / std::sqrt(1.0 + radius * radius));
        const double speed = draw_speed_ratio(random) * escape * speed_unit;
        set_body(bodies, i, position, scaled(unit_vector(random), speed));
    });
    to_centre_of_mass(bodies, threads);
    return {std::move(bodies)};
}

} // namespace

const InitialModel plummer_model{InitialKind::plummer, "n, seed, cutoff_radius",
                                 "Plummer's star cluster in standard N-body units (G = M = 1, E = -1/4)",
                                 make_plummer};

} // namespace farfield
