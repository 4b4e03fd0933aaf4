// A warm plasma of two components in a box: as many positive as negative charges of one size and one mass, at
// places drawn evenly from [0, length) along each axis, whose velocities are normal with variance T/m along
// an axis (Maxwell's distribution), but for their mean, which is taken away. Places know nothing of each
// other: screening sets in within some periods 2π/ω_p of the plasma, ω_p² = 4π n q²/m, and warms it by the
// energy that it sets free.
#include "dynamics/initial/common.h"
#include "dynamics/initial/model.h"
#include "math/random_deviates.h"

#include <farfield/error.h>

#include <cmath>

namespace farfield {
namespace {

void check_plasma(const InitialOptions& options) {
    constexpr const char* positive = "> 0 and finite";
    require_count(options, 2);
    require_initial(options.n % 2 == 0, "n", static_cast<double>(options.n),
                    "even: one half of the charges is negative");
    for (const double length : options.box)
        require_initial(length > 0.0 && std::isfinite(length), "box", length,
                        "three lengths > 0; a case gives them by force.period");
    require_initial(options.particle_mass > 0.0 && std::isfinite(options.particle_mass), "particle_mass",
                    options.particle_mass, positive);
    require_initial(options.particle_charge > 0.0 && std::isfinite(options.particle_charge),
                    "particle_charge", options.particle_charge, positive);
    require_initial(options.temperature >= 0.0 && std::isfinite(options.temperature), "temperature",
                    options.temperature, "0 (cold) or positive");
}

// Rounding may take a place to the other side of the box, which is the same place.
double place_in(double length, RandomStream& random) {
    const double x = length * random.next_uniform();
    return x < length ? x : 0.0;
}

InitialState make_plasma(const InitialOptions& options, int threads) {
    check_plasma(options);
    Bodies bodies = equal_masses(options.n);
    bodies.mass.assign(bodies.mass.size(), options.particle_mass);
    bodies.charge.resize(bodies.mass.size());
    const double dispersion = std::sqrt(options.temperature / options.particle_mass);
    each_body(options, threads, [&](std::int64_t i, RandomStream random) {
        const double x = place_in(options.box[0], random);
        const double y = place_in(options.box[1], random);
        const double z = place_in(options.box[2], random);
        set_body(bodies, i, {x, y, z}, scaled(normal_vector(random), dispersion));
        bodies.charge[static_cast<std::size_t>(i)] =
            i % 2 == 0 ? options.particle_charge : -options.particle_charge;
    });
    to_rest(bodies, threads);
    return {std::move(bodies)};
}

} // namespace

const InitialModel plasma_model{InitialKind::plasma,
                                "n, seed, box, particle_mass, particle_charge, temperature",
                                "Two-component plasma: charges of both signs, evenly in a box", make_plasma};

} // namespace farfield
