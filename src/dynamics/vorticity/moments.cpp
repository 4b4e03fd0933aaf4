#include "dynamics/vorticity/moments.h"

#include "dynamics/bodies/reductions.h"

#include <cmath>
#include <cstdint>
#include <utility>

namespace farfield {
namespace {

constexpr std::size_t count = 4;
constexpr double nothing = 1e-12; // of a sum of squares: what rounding leaves

// 1, x, y, x² + y².
VortexMoments functions_at(const double* point, const std::array<double, 2>& centre, double length) {
    const double x = (point[0] - centre[0]) / length;
    const double y = (point[1] - centre[1]) / length;
    return {1.0, x, y, x * x + y * y};
}

using Matrix = std::array<VortexMoments, count>;

// Solves a symmetric system whose matrix has no negative eigenvalue, by Cholesky's factor. A row that depends
// on those before it is left out, and its unknown is 0.
VortexMoments solution_of(Matrix a, VortexMoments b) {
    std::array<bool, count> used{};
    for (std::size_t k = 0; k < count; ++k) {
        const double whole = a[k][k];
        for (std::size_t l = 0; l < k; ++l) {
            if (!used[l]) continue;
            for (std::size_t m = 0; m < l; ++m)
                if (used[m]) a[k][l] -= a[k][m] * a[l][m];
            a[k][l] /= a[l][l];
            a[k][k] -= a[k][l] * a[k][l];
            b[k] -= a[k][l] * b[l];
        }
        used[k] = a[k][k] > nothing * whole;
        if (!used[k]) continue;
        a[k][k] = std::sqrt(a[k][k]);
        b[k] /= a[k][k];
    }
    for (std::size_t k = count; k-- > 0;) {
        if (!used[k]) {
            b[k] = 0.0;
            continue;
        }
        for (std::size_t l = k + 1; l < count; ++l)
            if (used[l]) b[k] -= a[l][k] * b[l];
        b[k] /= a[k][k];
    }
    return b;
}

} // namespace

VortexMoments moments_of(std::span<const double> points, std::span<const double> circulation,
                         const std::array<double, 2>& centre, double length) {
    VortexMoments out{};
    for (std::size_t k = 0; k < count; ++k)
        out[k] = pairwise_sum(0, static_cast<std::int64_t>(circulation.size()), [&](std::int64_t i) {
            return circulation[static_cast<std::size_t>(i)] *
                   functions_at(points.data() + 2 * i, centre, length)[k];
        });
    return out;
}

void set_moments(std::span<const double> points, std::vector<double>& circulation,
                 const std::array<double, 2>& centre, double length, const VortexMoments& wanted) {
    const auto n = static_cast<std::int64_t>(circulation.size());
    Matrix products{};
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t l = 0; l <= k; ++l)
            products[k][l] = pairwise_sum(0, n, [&](std::int64_t i) {
                const auto at = functions_at(points.data() + 2 * i, centre, length);
                return std::abs(circulation[static_cast<std::size_t>(i)]) * at[k] * at[l];
            });
    auto missing = moments_of(points, circulation, centre, length);
    for (std::size_t k = 0; k < count; ++k) missing[k] = wanted[k] - missing[k];
    const auto factors = solution_of(products, missing);
    for (std::int64_t i = 0; i < n; ++i) {
        const auto at = functions_at(points.data() + 2 * i, centre, length);
        double share = 0.0;
        for (std::size_t k = 0; k < count; ++k) share += factors[k] * at[k];
        auto& gamma = circulation[static_cast<std::size_t>(i)];
        gamma += std::abs(gamma) * share;
    }
}

MomentSpace::MomentSpace(std::span<const double> points, const std::array<double, 2>& centre, double length) {
    const auto n = points.size() / 2;
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<double> column(n);
        for (std::size_t i = 0; i < n; ++i)
            column[i] = functions_at(points.data() + 2 * i, centre, length)[k];
        const double whole = dot(column, column);
        take_out_of(column);
        take_out_of(column); // once more: rounding
        const double rest = dot(column, column);
        if (!(rest > nothing * whole)) continue;
        for (auto& value : column) value /= std::sqrt(rest);
        basis_.push_back(std::move(column));
    }
}

void MomentSpace::take_out_of(std::vector<double>& change) const {
    for (const auto& column : basis_) {
        const double share = dot(column, change);
        for (std::size_t i = 0; i < change.size(); ++i) change[i] -= share * column[i];
    }
}

} // namespace farfield
