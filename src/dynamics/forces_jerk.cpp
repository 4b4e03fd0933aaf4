// Accelerations and jerks for hermite4: with r = x_i − x_j, w = v_i − v_j and s² = r² + ε²,
// a = −Σ m r/s³ and da/dt = −Σ m (w/s³ − 3 (r·w) r/s⁵) for gravity; charges repel.
#include "dynamics/forces.h"

#include <farfield/error.h>

#include <chrono>
#include <cmath>

namespace farfield {

void Forces::accelerations_and_jerks(const Bodies& bodies, const std::vector<double>& position,
                                     const std::vector<double>& velocity, std::vector<double>& acceleration,
                                     std::vector<double>& jerk) {
    const auto start = std::chrono::steady_clock::now();
    const auto n = bodies.mass.size();
    const double sign = options_.kernel == Kernel::gravity ? -1.0 : 1.0;
    const auto& q = strengths(bodies);
    acceleration.assign(3 * n, 0.0);
    jerk.assign(3 * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            if (i == j) continue;
            double r[3];
            double w[3];
            double r2 = options_.softening * options_.softening;
            double rw = 0.0;
            for (std::size_t k = 0; k < 3; ++k) {
                r[k] = position[3 * i + k] - position[3 * j + k];
                w[k] = velocity[3 * i + k] - velocity[3 * j + k];
                r2 += r[k] * r[k];
                rw += r[k] * w[k];
            }
            const double factor = sign * q[j] / (r2 * std::sqrt(r2));
            const double along = 3.0 * rw / r2;
            for (std::size_t k = 0; k < 3; ++k) {
                acceleration[3 * i + k] += factor * r[k];
                jerk[3 * i + k] += factor * (w[k] - along * r[k]);
            }
        }
    scale(bodies, acceleration);
    scale(bodies, jerk);
    check_finite(bodies, acceleration, "acceleration");
    check_finite(bodies, jerk, "jerk");
    backend_ = {.isa = Isa::scalar, .variant = Variant::naive, .precision = Precision::float64};
    pairs_ += static_cast<double>(n) * (static_cast<double>(n) - 1.0);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace farfield
