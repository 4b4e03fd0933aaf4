// Axes: round ticks, their numbers, the frame of a plot.
#pragma once

#include "io/picture/canvas.h"

#include <string>
#include <vector>

namespace farfield::picture {

/// Colours and sizes of everything around the data.
struct Theme {
    Colour paper{255, 255, 255};
    Colour ink{38, 38, 44};
    Colour faint{222, 222, 228}; ///< grid lines
    double text = 15.0;          ///< height of capitals in pixels
    double line = 1.6;
    double tick = 9.0;
};

/// log10 x = log10_e·ln x: logarithms from `portable::log` have the same bits everywhere.
inline constexpr double log10_e = 0.4342944819032518;

/// A range of values shown along one side of a plot. A logarithmic axis holds log10 of its values and marks
/// decades.
struct Axis {
    double low = 0.0;
    double high = 1.0;
    bool logarithmic = false;
    std::string label;
    /// Where a value (log10 of it on a logarithmic axis) falls between 0 and 1.
    [[nodiscard]] double fraction(double value) const { return (value - low) / (high - low); }
};

struct Tick {
    double value;
    std::string text; ///< empty for small ticks
};

/// Of a linear axis of large or small numbers: their texts are multiples of 10 to this power, which
/// exponent_text names; else 0.
int common_exponent(const Axis& axis, int wanted);
/// "×10^{6}"; empty for 0.
std::string exponent_text(int exponent);

/// Ticks at 1, 2 or 5 times a power of ten, about `wanted` with a text, small ones between.
std::vector<Tick> ticks_of(const Axis& axis, int wanted);

/// The smallest of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten that is at least `value` > 0.
double round_up(double value);

/// A number for people: "−0.25", "1,234", "3.2×10^{−7}"; for draw_text.
std::string number_text(double value, int significant = 4);

struct FrameParts {
    bool x_texts = true;      ///< numbers and label below
    bool inward_ticks = true; ///< into the plot; otherwise away from it
    Colour ticks{38, 38, 44};
    int x_ticks = 6;
    int y_ticks = 6;
    double y_label_distance = 0.0; ///< least one from the left side to the label; numbers push it further
};

/// Draws the frame with ticks on all sides, numbers and labels at the left and below. The common exponent of
/// an axis stands at its end.
void draw_frame(Canvas& canvas, const Rectangle& plot, const Axis& x, const Axis& y, const Theme& theme,
                const FrameParts& parts);

/// Draws an axis of numbers to the right of a colour bar.
void draw_right_axis(Canvas& canvas, const Rectangle& bar, const Axis& axis, const Theme& theme, int wanted);

} // namespace farfield::picture
