// Sums of the plane in long double, written from the definitions with complex numbers: φ = −Σ q ln|z − z_j|,
// w = Σ q/(z − z_j), field (Re w, −Im w). Points at the place of a target are left out.
#pragma once

#include <farfield/array.h>
#include <farfield/sum.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

namespace farfield::oracle {

/// Points N×2 with complex strengths N×2.
struct PlanePoints {
    std::vector<double> xy, q;
    [[nodiscard]] ConstArrayView points() const { return matrix_view(std::span<const double>(xy), 2); }
    [[nodiscard]] ConstArrayView strengths() const { return matrix_view(std::span<const double>(q), 2); }
};

struct PlaneValues {
    std::vector<long double> potential, field; ///< M×2
};

inline PlaneValues plane_sums(const PlanePoints& sources, const std::vector<double>& targets) {
    using Complex = std::complex<long double>;
    PlaneValues out;
    for (std::size_t i = 0; i < targets.size() / 2; ++i) {
        Complex potential = 0.0L;
        Complex w = 0.0L;
        for (std::size_t j = 0; j < sources.xy.size() / 2; ++j) {
            const Complex d(static_cast<long double>(targets[2 * i]) - sources.xy[2 * j],
                            static_cast<long double>(targets[2 * i + 1]) - sources.xy[2 * j + 1]);
            if (d == 0.0L) continue;
            const Complex q(sources.q[2 * j], sources.q[2 * j + 1]);
            potential -= q * std::log(std::abs(d));
            w += q / d;
        }
        out.potential.insert(out.potential.end(), {potential.real(), potential.imag()});
        out.field.insert(out.field.end(), {w.real(), -w.imag()});
    }
    return out;
}

/// ‖computed − exact‖/‖exact‖ over all rows.
inline double relative_l2(const std::vector<double>& computed, const std::vector<long double>& exact) {
    if (computed.size() != exact.size()) return HUGE_VAL;
    long double largest = 0.0L;
    for (const auto value : exact) largest = std::max(largest, std::abs(value));
    if (largest == 0.0L) return 0.0;
    long double difference = 0.0L;
    long double norm = 0.0L;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const long double d = (static_cast<long double>(computed[i]) - exact[i]) / largest;
        difference += d * d;
        norm += exact[i] / largest * (exact[i] / largest);
    }
    return static_cast<double>(std::sqrt(difference / norm));
}

class PlaneRandom {
public:
    explicit PlaneRandom(std::uint64_t seed) : engine_(seed) {}
    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(engine_);
    }
    double normal() { return std::normal_distribution<double>()(engine_); }
    bool chance(double share) { return uniform(0.0, 1.0) < share; }

    /// Uniform in the unit square; strengths of both signs, complex or real.
    PlanePoints square(std::size_t n, bool complex_strengths) {
        PlanePoints out;
        for (std::size_t i = 0; i < n; ++i) {
            out.xy.insert(out.xy.end(), {uniform(0, 1), uniform(0, 1)});
            out.q.insert(out.q.end(), {uniform(-1, 1), complex_strengths ? uniform(-1, 1) : 0.0});
        }
        return out;
    }

private:
    std::mt19937_64 engine_;
};

} // namespace farfield::oracle
