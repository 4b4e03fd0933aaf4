// Pictures of fields on a plane: a colour for each cell with a colour bar, or a curve over a line of cells.
#pragma once

#include "io/picture/canvas.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace farfield::picture {

/// Cells of a plane. Row 0 is at the bottom, the first column at the left.
struct Plane {
    std::int64_t columns = 0;
    std::int64_t rows = 1; ///< 1: drawn as a curve
    /// Of the outer sides of the first and last cells.
    double left = 0, right = 1, bottom = 0, top = 1;
    std::string x_label;
    std::string y_label;
};

/// The smallest and largest value that colours (or the axis of a curve) show.
struct ValueRange {
    double low = 0;
    double high = 0;
    bool cut = false; ///< some values lie beyond
    [[nodiscard]] bool two_signs() const { return low < 0; }
};

/// Symmetric about 0 where values have two signs, else from 0 (or from the smallest, where it is far from 0).
/// One value in a thousand may lie beyond if this more than trebles the contrast. Ends are round numbers.
ValueRange range_of(std::span<const float> values);

/// Blocks of cells averaged into one, so that at most `most` remain in each direction; the sides stay where
/// they are.
struct Reduced {
    Plane plane;
    std::vector<float> values;
};
Reduced reduce(const Plane& plane, std::span<const double> values, std::int64_t most);

struct FieldPicture {
    std::string title; ///< "microdisk: Hz"
    /// Shorter ones, the shortest last, for pictures that have no room for it.
    std::vector<std::string> shorter_titles{};
    std::string moment;       ///< "step 100   t = 50"
    std::string values_label; ///< of the colour bar, or of the axis of a curve
    int size = 900;           ///< pixels of the longer side of the plane
    /// Masks over the cells of the plane as it was before `reduce`; each is outlined. `columns`×`rows` bytes.
    struct Outline {
        std::int64_t columns = 0;
        std::int64_t rows = 0;
        std::vector<unsigned char> inside;
    };
    std::vector<Outline> outlines;
    std::string colours =
        "auto"; ///< a name of colour_maps(); auto: blue-red for values of two signs, heat for others
    bool to_scale = true; ///< lengths along both axes; false: a square, whatever the plane's sides are
};

Canvas draw_field(const Plane& plane, std::span<const float> values, const ValueRange& range,
                  const FieldPicture& picture);

} // namespace farfield::picture
