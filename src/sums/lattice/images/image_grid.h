// How a box that is periodic along some axes is divided for its images: images of points in a rim around the
// box are near, and a sum over pairs or cells takes them; all others are far, and act through expansions of
// the box's cells (far_images.h).
//
// Cells are no longer than `width` along each axis, and the rim is so many cells wide that the cells of a far
// image lie at least (separation + 1)·width from those of the box, centre to centre, along one axis. So
// expansions converge as in a fast multipole sum of that separation, whatever the shape of the box.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace farfield {

using Lengths = std::array<double, 3>;
using Whole = std::array<int, 3>;

inline double length_of(const Lengths& x) { return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

struct ImageGrid {
    Lengths period{};        ///< 0: open
    Lengths low{}, extent{}; ///< of the box: along open axes, of the points in it
    Whole cells{1, 1, 1};    ///< along each axis
    Whole rim{};             ///< in cells; 0 along open axes
    double width = 1.0;      ///< longest side of a cell
    /// The rim is around each target's cell, and not around the box, a cube that is periodic along all axes.
    bool around_cells = false;

    [[nodiscard]] bool is_periodic(std::size_t axis) const { return period[axis] > 0.0; }
    [[nodiscard]] int count() const { return cells[0] * cells[1] * cells[2]; }
    [[nodiscard]] double side(std::size_t axis) const { return extent[axis] / cells[axis]; }
    [[nodiscard]] Lengths centre(const Whole& cell) const;
    /// The cell of a point along an axis.
    [[nodiscard]] int cell_of(double x, std::size_t axis) const;
    [[nodiscard]] Whole cell_of(int number) const;
    [[nodiscard]] int number_of(const Whole& cell) const {
        return (cell[2] * cells[1] + cell[1]) * cells[0] + cell[0];
    }
    /// The images n of a cell, at n periods along an axis, that are in the box and its rim.
    struct Range {
        int first = 0, last = 0;
    };
    [[nodiscard]] Range near(int cell, std::size_t axis) const;
    /// The images of a source's cell that are near a target's cell.
    [[nodiscard]] Range near(int target, int source, std::size_t axis) const;
    /// Those that are near for any cells.
    [[nodiscard]] Range near_for_any(std::size_t axis) const;
    /// From a source's cell to a target's, or with rims around cells from the source's image that lies
    /// nearest.
    [[nodiscard]] Whole offset(const Whole& target, const Whole& source) const;
    /// Of pairs of cells that share their offset and which images are near.
    [[nodiscard]] std::uint64_t kind(int target, int source) const;
    /// Volume of box and rim over that of the box: points a point, were they spread evenly.
    [[nodiscard]] double copies() const;
    /// Pairs of cells that differ in their offset or in which images are near.
    [[nodiscard]] double operators() const;
    /// Offsets between cells, but for their signs.
    [[nodiscard]] double offsets() const;

    friend bool operator==(const ImageGrid&, const ImageGrid&) = default;
};

/// Calls visit(n) for the images in these ranges.
template <class Visit>
void each_in(const std::array<ImageGrid::Range, 3>& ranges, const Visit& visit) {
    for (int z = ranges[2].first; z <= ranges[2].last; ++z)
        for (int y = ranges[1].first; y <= ranges[1].last; ++y)
            for (int x = ranges[0].first; x <= ranges[0].last; ++x) visit(Whole{x, y, z});
}

bool is_in(const std::array<ImageGrid::Range, 3>& ranges, const Whole& n);

/// The offset without signs, and its signs: bit k, of coordinate k.
std::pair<Whole, int> without_signs(Whole offset);

/// The grid whose cells are about `width` wide. Open axes have one cell at least, also without an extent.
ImageGrid image_grid(const Lengths& period, const Lengths& low, const Lengths& extent, double width,
                     int separation);

/// The one that takes least `seconds` among those that are not too large; none where all are.
std::optional<ImageGrid> best_image_grid(const Lengths& period, const Lengths& low, const Lengths& extent,
                                         int separation,
                                         const std::function<double(const ImageGrid&)>& seconds);

} // namespace farfield
