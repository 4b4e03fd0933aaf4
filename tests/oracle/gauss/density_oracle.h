// Densities in long double, from the definition: p(x) = Σ w_i exp(−(x − x_i)ᵀ H⁻¹ (x − x_i)/2)/(W √det(2π
// H)), H = f² C with C = Σ w (x − m)(x − m)ᵀ/(1 − Σ w²) of weights that add up to 1, or H = σ². H is inverted
// by elimination, no factor of it is taken.
#pragma once

#include <farfield/density.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace farfield::oracle {

using Real = long double;
using Matrix = std::vector<std::vector<Real>>;

struct DensityCase {
    std::size_t dimension = 2;
    std::vector<double> points{}, weights{}; ///< no weights: 1 each
    std::vector<double> targets{};           ///< none: the points
    bool without_own = false;

    [[nodiscard]] std::size_t count() const { return points.size() / dimension; }
    [[nodiscard]] const std::vector<double>& at() const { return targets.empty() ? points : targets; }
    [[nodiscard]] Real weight(std::size_t i) const { return weights.empty() ? 1.0L : weights[i]; }
    [[nodiscard]] Real all() const {
        Real sum = 0;
        for (std::size_t i = 0; i < count(); ++i) sum += weight(i);
        return sum;
    }
    /// (Σ w)²/Σ w².
    [[nodiscard]] Real effective() const {
        Real squares = 0;
        for (std::size_t i = 0; i < count(); ++i) squares += weight(i) * weight(i);
        return all() * all() / squares;
    }

    [[nodiscard]] Matrix covariance() const {
        const Real sum = all();
        std::vector<Real> mean(dimension, 0.0L);
        Real squares = 0;
        for (std::size_t i = 0; i < count(); ++i) {
            squares += weight(i) / sum * (weight(i) / sum);
            for (std::size_t k = 0; k < dimension; ++k)
                mean[k] += weight(i) / sum * points[i * dimension + k];
        }
        Matrix out(dimension, std::vector<Real>(dimension, 0.0L));
        for (std::size_t i = 0; i < count(); ++i)
            for (std::size_t a = 0; a < dimension; ++a)
                for (std::size_t b = 0; b < dimension; ++b)
                    out[a][b] += weight(i) / sum * (points[i * dimension + a] - mean[a]) *
                                 (points[i * dimension + b] - mean[b]) / (1 - squares);
        return out;
    }
    [[nodiscard]] Real factor(BandwidthRule rule) const {
        const Real d = static_cast<Real>(dimension);
        const Real n = rule == BandwidthRule::silverman ? effective() * (d + 2) / 4 : effective();
        return std::exp(-std::log(n) / (d + 4));
    }
    /// f² C, or σ² in every direction.
    [[nodiscard]] Matrix bandwidth(BandwidthRule rule, double sigma = 0.0) const {
        auto out = covariance();
        const Real f = rule == BandwidthRule::sigma ? sigma : factor(rule);
        for (std::size_t a = 0; a < dimension; ++a)
            for (std::size_t b = 0; b < dimension; ++b)
                out[a][b] = rule != BandwidthRule::sigma ? f * f * out[a][b]
                            : a == b                     ? f * f
                                                         : static_cast<Real>(0);
        return out;
    }
};

/// The inverse, by elimination in the order of the diagonal; det gets the determinant. @pre definite
inline Matrix inverse(Matrix matrix, Real& det) {
    const auto d = matrix.size();
    Matrix out(d, std::vector<Real>(d, 0.0L));
    for (std::size_t k = 0; k < d; ++k) out[k][k] = 1;
    det = 1;
    for (std::size_t k = 0; k < d; ++k) {
        const Real pivot = matrix[k][k];
        det *= pivot;
        for (std::size_t c = 0; c < d; ++c) {
            matrix[k][c] /= pivot;
            out[k][c] /= pivot;
        }
        for (std::size_t row = 0; row < d; ++row) {
            const Real times = matrix[row][k];
            if (row == k) continue;
            for (std::size_t c = 0; c < d; ++c) {
                matrix[row][c] -= times * matrix[k][c];
                out[row][c] -= times * out[k][c];
            }
        }
    }
    return out;
}

struct DensityValues {
    std::vector<Real> density, gradient; ///< M and M×d
};

inline DensityValues exact_density(const DensityCase& given, const Matrix& bandwidth) {
    const auto d = given.dimension;
    Real det = 0;
    const auto inverted = inverse(bandwidth, det);
    const Real pi = 3.14159265358979323846264338327950288L;
    const Real volume = std::sqrt(std::pow(2 * pi, static_cast<Real>(d))) * std::sqrt(det);
    const Real all = given.all();
    DensityValues out;
    for (std::size_t t = 0; t < given.at().size() / d; ++t) {
        Real sum = 0;
        std::vector<Real> slope(d, 0.0L);
        for (std::size_t i = 0; i < given.count(); ++i) {
            if (given.without_own && i == t) continue;
            std::vector<Real> away(d), pull(d, 0.0L);
            for (std::size_t k = 0; k < d; ++k)
                away[k] = static_cast<Real>(given.at()[t * d + k]) - given.points[i * d + k];
            Real square = 0;
            for (std::size_t a = 0; a < d; ++a) {
                for (std::size_t b = 0; b < d; ++b) pull[a] += inverted[a][b] * away[b];
                square += pull[a] * away[a];
            }
            const Real term = given.weight(i) * std::exp(-square / 2);
            sum += term;
            for (std::size_t k = 0; k < d; ++k) slope[k] -= term * pull[k];
        }
        Real others = given.without_own ? 0 : all; // no difference of large numbers
        for (std::size_t i = 0; given.without_own && i < given.count(); ++i)
            if (i != t) others += given.weight(i);
        const Real divisor = volume * others;
        out.density.push_back(sum / divisor);
        for (const Real number : slope) out.gradient.push_back(number / divisor);
    }
    return out;
}

} // namespace farfield::oracle
