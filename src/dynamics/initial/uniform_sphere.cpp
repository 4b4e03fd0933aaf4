// A homogeneous sphere of radius 6/5, so that with G = M = 1 the potential energy is V = −3/5·M²/R = −1/2
// (virial radius 1). Velocities are isotropic and normal, with kinetic energy T = −virial_ratio·V: 0 is a
// cold collapse, 0.5 virial equilibrium with E = −1/4. Bodies may carry charges of one size: a plasma for the
// coulomb kernel.
#include "dynamics/initial/common.h"
#include "dynamics/initial/model.h"
#include "math/portable/functions.h"
#include "math/random_deviates.h"

#include <cmath>

namespace farfield {
namespace {

constexpr double sphere_radius = 1.2;
constexpr double potential_size = 0.5;

// Body i is negative where floor(i·fraction) moves on: negative bodies are spread evenly over the ids.
std::vector<double> make_charges(const InitialOptions& options) {
    std::vector<double> charges(static_cast<std::size_t>(options.n));
    const double size = options.charge / static_cast<double>(options.n);
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const double before = std::floor(static_cast<double>(i) * options.negative_fraction);
        const double after = std::floor(static_cast<double>(i + 1) * options.negative_fraction);
        charges[i] = after > before ? -size : size;
    }
    return charges;
}

InitialState make_uniform_sphere(const InitialOptions& options, int threads) {
    require_count(options);
    require_initial(options.virial_ratio >= 0.0 && std::isfinite(options.virial_ratio), "virial_ratio",
                    options.virial_ratio, "0 (cold) or positive; 0.5 is equilibrium");
    require_initial(options.charge >= 0.0 && std::isfinite(options.charge), "charge", options.charge,
                    "0 (no charges) or positive: the sum of |q| over all bodies");
    require_initial(options.negative_fraction >= 0.0 && options.negative_fraction <= 1.0, "negative_fraction",
                    options.negative_fraction, "from 0 (all positive) to 1 (all negative); 0.5 is neutral");
    // T = 3/2 M σ².
    const double dispersion = std::sqrt(options.virial_ratio * potential_size * (2.0 / 3.0));
    Bodies bodies = equal_masses(options.n);
    each_body(options, threads, [&](std::int64_t i, RandomStream random) {
        const double radius = sphere_radius * portable::cbrt(random.next_uniform());
        const auto position = scaled(unit_vector(random), radius);
        set_body(bodies, i, position, scaled(normal_vector(random), dispersion));
    });
    to_centre_of_mass(bodies, threads);
    if (options.charge > 0.0) bodies.charge = make_charges(options);
    return {std::move(bodies)};
}

} // namespace

const InitialModel uniform_sphere_model{
    InitialKind::uniform_sphere, "n, seed, virial_ratio, charge, negative_fraction",
    "Homogeneous sphere of radius 6/5, cold or virialised, or a charged plasma", make_uniform_sphere};

} // namespace farfield
