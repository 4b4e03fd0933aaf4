// The letters of pictures: pen strokes on a grid where capitals are 14 high, small letters 10, descenders 4
// deep.
#pragma once

#include <string_view>

namespace farfield::picture {

/// A letter as a path. Commands, separated by blanks: `M x y` lifts the pen and moves, `N` lifts it, `L x y`
/// draws a line, `A cx cy rx ry from to` draws an arc of an ellipse between two angles in degrees
/// (counter-clockwise where `to` is larger), joined to what was drawn before.
struct Glyph {
    char32_t code;
    double width; ///< from the left edge, at 0, to the right edge
    std::string_view path;
};

/// The glyph of a character; one with an empty path for blanks, and a box for what is not known.
const Glyph& glyph_of(char32_t code);

/// Space between two letters, on the same grid.
constexpr double letter_gap = 3.3;
constexpr double capital_height = 14.0;

} // namespace farfield::picture
