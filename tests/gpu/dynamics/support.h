// Bodies and comparisons for the tests of simulations on GPUs.
#pragma once

#include "gpu/needs_gpu.h"
#include "unit/dynamics/systems.h"

#include <farfield/run.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace farfield::test {

inline ForceOptions on_gpu(Precision precision = Precision::float64, double softening = 0.05) {
    return {.softening = softening, .precision = precision, .device = {.kind = DeviceKind::cuda}};
}
inline ForceOptions on_cpu(ForceOptions force) {
    force.device = {.kind = DeviceKind::cpu};
    return force;
}

inline Bodies plummer_bodies(int n, std::uint64_t seed = 3) {
    InitialOptions options;
    options.kind = InitialKind::plummer;
    options.n = n;
    options.seed = seed;
    return make_bodies(options);
}

/// ‖a − b‖ / ‖b‖; the norm of a where b vanishes.
inline double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
    EXPECT_EQ(a.size(), b.size());
    double difference = 0.0, norm = 0.0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        norm += b[i] * b[i];
    }
    return norm > 0.0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

/// Accelerations in long double from the equation, for bodies at `position`.
inline std::vector<double> exact_acceleration(const Bodies& bodies, const ForceOptions& force) {
    const auto n = bodies.mass.size();
    const bool charges = force.kernel == Kernel::coulomb;
    const auto& s = charges ? bodies.charge : bodies.mass;
    std::vector<double> out(3 * n);
    for (std::size_t i = 0; i < n; ++i) {
        long double sum[3] = {0, 0, 0};
        for (std::size_t j = 0; j < n; ++j) {
            if (i == j) continue;
            long double d[3], r2 = static_cast<long double>(force.softening) * force.softening;
            for (std::size_t k = 0; k < 3; ++k) {
                d[k] = static_cast<long double>(bodies.position[3 * j + k]) - bodies.position[3 * i + k];
                r2 += d[k] * d[k];
            }
            const long double weight = s[j] / (r2 * std::sqrt(r2));
            for (std::size_t k = 0; k < 3; ++k) sum[k] += weight * d[k];
        }
        const long double factor =
            charges ? -force.G * static_cast<long double>(s[i]) / bodies.mass[i] : force.G;
        for (std::size_t k = 0; k < 3; ++k) out[3 * i + k] = static_cast<double>(factor * sum[k]);
    }
    return out;
}

} // namespace farfield::test
