#include "sums/direct/reference.h"

#include <cmath>

namespace farfield {

void reference_direct_sum(const DirectTask& task) {
    // φ = s Σ q/r, E = −∇φ = s Σ q (x − y)/r³ with s = −1 for gravity and +1 for Coulomb.
    const double sign = task.kernel == Kernel::gravity ? -1.0 : 1.0;
    for (std::int64_t i = 0; i < task.targets; ++i) {
        const double* x = task.target_points + 3 * i;
        double potential = 0.0;
        double field[3] = {0.0, 0.0, 0.0};
        for (std::int64_t j = 0; j < task.sources; ++j) {
            if (task.self && i == j) continue;
            const double* y = task.source_points + 3 * j;
            const double dx = x[0] - y[0];
            const double dy = x[1] - y[1];
            const double dz = x[2] - y[2];
            const double r2 = dx * dx + dy * dy + dz * dz + task.softening * task.softening;
            const double inverse = 1.0 / std::sqrt(r2);
            const double q = task.strengths[j];
            potential += q * inverse;
            const double w = q * inverse * inverse * inverse;
            field[0] += w * dx;
            field[1] += w * dy;
            field[2] += w * dz;
        }
        if (task.potential != nullptr) task.potential[i] = sign * potential;
        if (task.field != nullptr)
            for (int k = 0; k < 3; ++k) task.field[3 * i + k] = sign * field[k];
    }
}

} // namespace farfield
