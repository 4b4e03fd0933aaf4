// Text of pictures, drawn with the pen strokes of glyphs.h.
#pragma once

#include "io/picture/canvas.h"

#include <string_view>

namespace farfield::picture {

enum class Align { left, centre, right };

struct TextStyle {
    double size = 14.0; ///< height of capitals in pixels
    Colour colour{};
    Align align = Align::left;
    bool upwards = false; ///< turned by 90 degrees, read from below
};

/// Width in pixels. Text is UTF-8; `_{…}` lowers and `^{…}` raises what is in braces.
double text_width(std::string_view text, double size);

/// Draws text whose baseline starts, is centred or ends at `anchor`.
void draw_text(Canvas& canvas, Point anchor, std::string_view text, const TextStyle& style);

} // namespace farfield::picture
