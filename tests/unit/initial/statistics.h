// What the tests of initial models measure: radii, energies, distances between distributions.
#pragma once

#include <farfield/run.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

namespace farfield::statistics {

inline std::array<double, 3> row(const std::vector<double>& values, std::size_t i) {
    return {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
}
inline double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline double length(const std::array<double, 3>& a) { return std::sqrt(dot(a, a)); }

inline std::vector<double> lengths(const std::vector<double>& values) {
    std::vector<double> out(values.size() / 3);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = length(row(values, i));
    return out;
}

inline double kinetic(const Bodies& bodies) {
    double sum = 0.0;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        const auto v = row(bodies.velocity, i);
        sum += 0.5 * bodies.mass[i] * dot(v, v);
    }
    return sum;
}

inline double potential(const Bodies& bodies) {
    double sum = 0.0;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        const auto a = row(bodies.position, i);
        for (std::size_t j = 0; j < i; ++j) {
            const auto b = row(bodies.position, j);
            sum -= bodies.mass[i] * bodies.mass[j] / length({a[0] - b[0], a[1] - b[1], a[2] - b[2]});
        }
    }
    return sum;
}

/// Mass-weighted mean of rows.
inline std::array<double, 3> mean(const Bodies& bodies, const std::vector<double>& values) {
    std::array<double, 3> sum{};
    double mass = 0.0;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        for (std::size_t k = 0; k < 3; ++k) sum[k] += bodies.mass[i] * values[3 * i + k];
        mass += bodies.mass[i];
    }
    return {sum[0] / mass, sum[1] / mass, sum[2] / mass};
}

/// The largest distance of the samples' cumulative distribution from the law's (Kolmogorov & Smirnov), times
/// √n. Above 2.23 by chance once in 10^4.
template <class Law>
double kolmogorov_smirnov(std::vector<double> samples, Law cumulative) {
    std::sort(samples.begin(), samples.end());
    const double n = static_cast<double>(samples.size());
    double worst = 0.0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double law = cumulative(samples[i]);
        worst = std::max({worst, law - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - law});
    }
    return worst * std::sqrt(n);
}
constexpr double ks_limit = 2.23;

/// Mean of v_r²/σ², and of half v_t²/σ², with the one-dimensional dispersion σ²(r): 1 each for an isotropic
/// model.
template <class Dispersion>
std::array<double, 2> scaled_dispersions(const Bodies& bodies, double largest_radius, Dispersion sigma2) {
    double radial = 0.0;
    double tangential = 0.0;
    double count = 0.0;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        const auto x = row(bodies.position, i);
        const auto v = row(bodies.velocity, i);
        const double r = length(x);
        if (r > largest_radius) continue;
        const double vr = dot(x, v) / r;
        radial += vr * vr / sigma2(r);
        tangential += 0.5 * (dot(v, v) - vr * vr) / sigma2(r);
        count += 1.0;
    }
    return {radial / count, tangential / count};
}

/// A hash of every bit of the bodies (FNV-1a).
inline std::uint64_t hash(const Bodies& bodies) {
    std::uint64_t h = 0xcbf29ce484222325U;
    const auto add = [&](const auto& values) {
        for (const auto& value : values) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof value);
            for (int i = 0; i < 8; ++i) h = (h ^ ((bits >> (8 * i)) & 0xFFU)) * 0x100000001b3U;
        }
    };
    add(bodies.position);
    add(bodies.velocity);
    add(bodies.mass);
    add(bodies.charge);
    add(bodies.id);
    return h;
}

} // namespace farfield::statistics
