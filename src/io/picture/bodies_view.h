// What part of space a picture of bodies shows: the plane, the frame, where a body falls in it.
#pragma once

#include "io/picture.h"
#include "io/picture/axes.h"
#include "io/picture/density_map.h"
#include "io/picture/trails.h"

#include <array>
#include <string>
#include <vector>

namespace farfield::picture {

/// The coordinates to the right and up.
struct ViewPlane {
    std::size_t right;
    std::size_t up;
};

/// @throws InvalidArgument for a name that is not xy, xz or yz.
ViewPlane view_plane(const std::string& name);

/// @throws InvalidArgument for no bodies or values that no picture can show.
void require_drawable(const Bodies& bodies);

/// Centre and width for bodies; `width` > 0 overrides the width. Along the axes of a periodic box the box is
/// shown, from 0 to its length.
PictureFrame frame_without_range(const Bodies& bodies, const ViewPlane& plane, double width,
                                 const std::array<double, 3>& box);

/// The bodies in a periodic box, and behind them those of their images that lie near its borders: a density
/// goes on there. The bodies as they are where the plane has an open axis.
Bodies with_images(const Bodies& bodies, const ViewPlane& plane, const std::array<double, 3>& box);

/// @throws InvalidArgument for a width that is too small for coordinates of this size, or too large.
void require_usable(const PictureFrame& frame);

/// From space to the pixels of a square of `size`, counted from its lower left corner.
class Projection {
public:
    Projection(const PictureFrame& frame, const ViewPlane& plane, int size)
        : left_(frame.centre[plane.right] - frame.width / 2),
          bottom_(frame.centre[plane.up] - frame.width / 2), scale_(size / frame.width), size_(size),
          plane_(plane) {}

    [[nodiscard]] Point place(const double* position) const {
        return {(position[plane_.right] - left_) * scale_, (position[plane_.up] - bottom_) * scale_};
    }
    [[nodiscard]] PlacedBody place(const Bodies& bodies, std::size_t i) const {
        const auto at = place(bodies.position.data() + 3 * i);
        return {at.x, at.y, bodies.mass[i]};
    }
    [[nodiscard]] bool shows(const Bodies& bodies, std::size_t i) const {
        const auto at = place(bodies, i);
        return at.x >= 0 && at.y >= 0 && at.x <= size_ && at.y <= size_;
    }
    /// `weights` (masses, say) per area; row 0 is at the bottom.
    [[nodiscard]] std::vector<double> surface_density(const Bodies& bodies,
                                                      const std::vector<double>& weights, int threads) const;
    [[nodiscard]] Axis axis(std::size_t which, double width, const std::string& unit) const;

private:
    double left_, bottom_, scale_;
    int size_;
    ViewPlane plane_;
};

} // namespace farfield::picture
