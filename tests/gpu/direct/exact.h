// The oracle of the GPU tests: sums in long double, written from the equations, for chosen rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

namespace farfield::gpu_test {

struct Cloud {
    std::vector<double> points;    ///< N×3
    std::vector<double> strengths; ///< N
};

/// A Plummer sphere of radius 1 and mass 1 with unequal masses; values are rounded to float where `to_float`,
/// so that a float sum is judged by its arithmetic, not by the rounding of its inputs.
inline Cloud plummer(std::size_t n, std::uint64_t seed, bool to_float, bool mixed_signs = false) {
    std::mt19937_64 engine(seed);
    const auto uniform = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
    const auto stored = [&](double value) {
        return to_float ? static_cast<double>(static_cast<float>(value)) : value;
    };
    Cloud cloud;
    for (std::size_t i = 0; i < n; ++i) {
        const double radius = 1.0 / std::sqrt(std::pow(0.999 * uniform() + 1e-6, -2.0 / 3.0) - 1.0);
        const double cosine = 2.0 * uniform() - 1.0, angle = 2.0 * std::numbers::pi * uniform();
        const double sine = std::sqrt(1.0 - cosine * cosine);
        for (double x : {radius * sine * std::cos(angle), radius * sine * std::sin(angle), radius * cosine})
            cloud.points.push_back(stored(x));
        const double sign = mixed_signs && uniform() < 0.5 ? -1.0 : 1.0;
        cloud.strengths.push_back(stored(sign * (0.5 + uniform()) / static_cast<double>(n)));
    }
    return cloud;
}

/// Σ q/r and −∇ of it at rows of targets; a source with the same row and `self` is left out.
struct ExactRows {
    std::vector<double> potential, field;
};
inline ExactRows exact_rows(const Cloud& cloud, const std::vector<double>& targets, bool self,
                            double softening, const std::vector<std::size_t>& rows) {
    ExactRows out{std::vector<double>(rows.size()), std::vector<double>(3 * rows.size())};
    const auto one_row = [&](std::size_t k) {
        long double phi = 0, f[3] = {0, 0, 0};
        for (std::size_t j = 0; j < cloud.strengths.size(); ++j) {
            if (self && j == rows[k]) continue;
            long double d[3], r2 = static_cast<long double>(softening) * softening;
            for (std::size_t a = 0; a < 3; ++a) {
                d[a] = static_cast<long double>(targets[3 * rows[k] + a]) - cloud.points[3 * j + a];
                r2 += d[a] * d[a];
            }
            const long double r = std::sqrt(r2), q = cloud.strengths[j];
            phi += q / r;
            for (std::size_t a = 0; a < 3; ++a) f[a] += q * d[a] / (r2 * r);
        }
        out.potential[k] = static_cast<double>(phi);
        for (std::size_t a = 0; a < 3; ++a) out.field[3 * k + a] = static_cast<double>(f[a]);
    };
    std::vector<std::thread> threads;
    const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t t = 0; t < count; ++t)
        threads.emplace_back([&, t] {
            for (std::size_t k = t; k < rows.size(); k += count) one_row(k);
        });
    for (auto& thread : threads) thread.join();
    return out;
}

/// At most `most` rows of `n`, spread evenly and the last one among them.
inline std::vector<std::size_t> sample_rows(std::size_t n, std::size_t most) {
    std::vector<std::size_t> rows;
    if (n <= most)
        for (std::size_t i = 0; i < n; ++i) rows.push_back(i);
    else
        for (std::size_t k = 0; k < most; ++k) rows.push_back((n - 1) - k * (n - 1) / (most - 1));
    return rows;
}

/// ‖got − sign·exact‖ / ‖exact‖ over the sampled rows of a result with `width` numbers a row.
inline double relative_error(const std::vector<double>& got, const std::vector<double>& exact,
                             const std::vector<std::size_t>& rows, std::size_t width, double sign) {
    long double difference = 0, norm = 0;
    for (std::size_t k = 0; k < rows.size(); ++k)
        for (std::size_t a = 0; a < width; ++a) {
            const long double e = sign * exact[width * k + a], g = got[width * rows[k] + a];
            difference += (g - e) * (g - e);
            norm += e * e;
        }
    return static_cast<double>(std::sqrt(difference) / std::sqrt(norm));
}

} // namespace farfield::gpu_test
