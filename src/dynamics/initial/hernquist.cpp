// Hernquist's sphere (1990, ApJ 356, 359) with isotropic velocities from its distribution function (eq. 17),
// cut at x scale lengths (100 unless told), which keeps the sum of r finite. In standard N-body units, G = M
// = 1 and virial radius 1: the cut model has V = −(x + 4)/(6ax), so the scale length is a = (1 + 4/x)/3.
#include "dynamics/initial/common.h"
#include "dynamics/initial/hernquist_distribution.h"
#include "dynamics/initial/model.h"
#include "math/random_deviates.h"

#include <cmath>

namespace farfield {
namespace {

constexpr double default_cutoff = 100.0; // in scale lengths
constexpr double least_cutoff = 1.34;    // in virial radii: a 1/r sphere with nothing cut has 4/3

// Speed at a place of potential −ψ, in units G = M = a = 1. The distribution function grows with the binding
// energy, so f(ψ) bounds it, and candidates are drawn uniformly from the ball of escape speed.
double draw_speed(RandomStream& random, double psi) {
    const double largest = hernquist_distribution(psi);
    while (true) {
        const std::array<double, 3> x{2.0 * random.next_uniform() - 1.0, 2.0 * random.next_uniform() - 1.0,
                                      2.0 * random.next_uniform() - 1.0};
        const double x2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        if (x2 >= 1.0) continue;
        if (random.next_uniform() * largest < hernquist_distribution(psi * (1.0 - x2)))
            return std::sqrt(2.0 * psi * x2);
    }
}

InitialState make_hernquist(const InitialOptions& options, int threads) {
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
    each_body(options, threads, [&](std::int64_t i, RandomStream random) {
        const double root = root_inside * std::sqrt(random.next_open_uniform());
        const double radius = root / (1.0 - root);
        const auto position = scaled(unit_vector(random), radius * scale_length);
        const double speed = draw_speed(random, 1.0 - root) * velocity_scale; // ψ = 1/(1 + r) = 1 − root
        set_body(bodies, i, position, scaled(unit_vector(random), speed));
    });
    to_rest(bodies, threads);
    return {std::move(bodies)};
}

} // namespace

const InitialModel hernquist_model{InitialKind::hernquist, "n, seed, cutoff_radius",
                                   "Hernquist's cuspy galaxy, isotropic, in standard N-body units",
                                   make_hernquist};

} // namespace farfield
