// Cells and near images of an ImageGrid, and how expansions of its cells are scaled, on the host and on GPUs.
#pragma once

#include "math/host_device.h"
#include "sums/lattice/images/image_grid.h"

#include <cstddef>

namespace farfield {

/// What an ImageGrid says of one axis.
struct ImageAxis {
    double period = 0.0, low = 0.0, side = 0.0; ///< period 0: open
    int cells = 1, rim = 0;

    /// The cell of a coordinate.
    [[nodiscard]] FF_HD int cell_of(double x) const {
        if (cells == 1) return 0;
        const auto cell = static_cast<int>((x - low) / side);
        return cell < 0 ? 0 : cell < cells ? cell : cells - 1;
    }
    [[nodiscard]] FF_HD double centre(int cell) const { return low + (cell + 0.5) * side; }
    /// The images n of a cell, at n periods, that are in the box and its rim: first_near … last_near.
    [[nodiscard]] FF_HD int first_near(int cell) const { return period > 0.0 ? -((rim + cell) / cells) : 0; }
    [[nodiscard]] FF_HD int last_near(int cell) const {
        return period > 0.0 ? (cells - 1 + rim - cell) / cells : 0;
    }
};

struct GridView {
    ImageAxis axes[3];
    double width = 1.0;

    GridView() = default;
    explicit GridView(const ImageGrid& grid) : width(grid.width) {
        for (std::size_t k = 0; k < 3; ++k)
            axes[k] = {grid.period[k], grid.low[k], grid.side(k), grid.cells[k], grid.rim[k]};
    }
    [[nodiscard]] FF_HD int count() const { return axes[0].cells * axes[1].cells * axes[2].cells; }
    [[nodiscard]] FF_HD int number_of(const int (&cell)[3]) const {
        return (cell[2] * axes[1].cells + cell[1]) * axes[0].cells + cell[0];
    }
};

/// The place of Λ_l^m in a ComplexExpansion.
FF_HD inline int expansion_place(int l, int m) { return l * l + l + m; }

/// The numbers of a pair of functions (l, m ≥ 0) in the four expansions of EvaluateTask that give a local
/// expansion's value and its derivatives along x, y and z. `local(place)` has members x and y, the real and
/// the imaginary part, for −l ≤ m ≤ l.
///
/// ∂z conj R_l^m = conj R_{l−1}^m, (∂x + i∂y) conj R_l^m = conj R_{l−1}^{m−1}, (∂x − i∂y) conj R_l^m =
/// −conj R_{l−1}^{m+1}: coefficients of the derivatives are Λ_{l+1} at m and at m ± 1.
/// @param scale  √2 for m > 0, √½ for m = 0, over that of the function (HarmonicScales)
template <class Local>
FF_HD inline void set_coefficients(int order, int l, int m, double scale, const Local& local,
                                   double (&to)[8]) {
    const double imaginary = m > 0 ? scale : 0.0;
    const auto here = local(expansion_place(l, m));
    to[0] = scale * here.x;
    to[4] = imaginary * here.y;
    for (int which = 1; which < 4; ++which) to[which] = to[4 + which] = 0.0;
    if (l == order) return;
    const auto up = local(expansion_place(l + 1, m + 1)), down = local(expansion_place(l + 1, m - 1)),
               level = local(expansion_place(l + 1, m));
    to[1] = scale * (0.5 * (up.x - down.x));
    to[5] = imaginary * (0.5 * (up.y - down.y));
    to[2] = scale * (0.5 * (up.y + down.y));
    to[6] = imaginary * (-0.5 * (up.x + down.x));
    to[3] = scale * level.x;
    to[7] = imaginary * level.y;
}

} // namespace farfield
