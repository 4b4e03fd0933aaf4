// The p³ translation: rotate so that the target lies along z, translate there, rotate back. A rotation by the
// azimuth multiplies by phases; one by the polar angle mixes orders m of one degree, real parts with real
// parts and imaginary with imaginary ones, in blocks of l + 1 and l. Along z (moments.h with R = (0, 0, r))
//     µ_lm = (−1)^m Σ_(j ≥ m) (l + j)!/r^(l+j+1) conj ω_jm.
#pragma once

#include "math/host_device.h"

#include <cstddef>
#include <vector>

namespace farfield::strategies {

/// Where the blocks of degree l begin: the real one of (l + 1)², then the imaginary one of l² numbers, in
/// rows.
FF_HD constexpr int rotation_place(int l) { // Σ of i² up to l, and up to l − 1
    return l * (l + 1) * (2 * l + 1) / 6 + (l - 1) * l * (2 * l - 1) / 6;
}
/// Entry of a degree's block; m, k ≥ 1 of the imaginary one.
FF_HD constexpr int rotation_entry(int l, int m, int k, bool imaginary) {
    return imaginary ? (l + 1) * (l + 1) + (m - 1) * l + k - 1 : m * (l + 1) + k;
}
FF_HD constexpr int rotation_size(int order) { return rotation_place(order + 1); }

/// For all operators of an order; `op` as in boxes.h.
struct RotationTables {
    int order = 0;
    int angles = 0;                   ///< polar angles that occur
    std::vector<int> angle_of;        ///< offsets; −1 where boxes are near
    std::vector<double> there, back;  ///< angles × rotation_size(order)
    std::vector<double> cosine, sine; ///< offsets × (order + 1): of m times the azimuth
    std::vector<double> along;        ///< offsets × (2 order + 1): n!/r^(n+1)

    [[nodiscard]] std::size_t blocks(int op) const {
        return static_cast<std::size_t>(angle_of[static_cast<std::size_t>(op)]) *
               static_cast<std::size_t>(rotation_size(order));
    }
};
RotationTables make_rotations(int order);

/// Multiply-adds of real numbers in one translation.
double rotated_multiply_adds(int order);

/// One translation on the host, expansions as real_form.h stores them; adds to µ.
void rotated_operation(const RotationTables& tables, int op, const double* omega, double* mu);

} // namespace farfield::strategies
