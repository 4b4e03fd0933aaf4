#include "io/picture/plot_field.h"

#include "io/picture/axes.h"
#include "io/picture/colour_map.h"
#include "io/picture/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield::picture {
namespace {

constexpr double left_margin = 120;
constexpr double top_margin = 70;
constexpr double bottom_margin = 90;
constexpr double bar_gap = 26;
constexpr double bar_width = 26;
constexpr double least_side = 130;

// The plane in pixels: true to scale unless it would be a thread, or is not to be.
Rectangle place_of(const Plane& plane, double size, bool to_scale) {
    if (plane.rows == 1) return {left_margin, top_margin, left_margin + size, top_margin + 0.55 * size};
    if (!to_scale) return {left_margin, top_margin, left_margin + size, top_margin + size};
    const double ratio = std::abs((plane.top - plane.bottom) / (plane.right - plane.left));
    const double width = std::floor(std::max(least_side, ratio > 1 ? size / ratio : size));
    const double height = std::floor(std::max(least_side, ratio > 1 ? size : size * ratio));
    return {left_margin, top_margin, left_margin + width, top_margin + height};
}

std::int64_t cell_of(int pixel, double length, std::int64_t cells) {
    return std::min(cells - 1,
                    static_cast<std::int64_t>((pixel + 0.5) / length * static_cast<double>(cells)));
}

const ColourMap& map_of(const ValueRange& range, const std::string& colours) {
    if (colours != "auto") return colour_map(colours);
    return colour_map(range.two_signs() ? "blue-red" : "heat");
}

Colour colour_of(double value, const ValueRange& range, const ColourMap& map) {
    if (map.centred) return map.at((value / std::max(std::abs(range.low), std::abs(range.high)) + 1) / 2);
    return map.at((value - range.low) / (range.high - range.low));
}

void draw_cells(Canvas& canvas, const Rectangle& plot, const Plane& plane, std::span<const float> values,
                const ValueRange& range, const ColourMap& map) {
    for (int y = 0; y < static_cast<int>(plot.height()); ++y) {
        const auto row = plane.rows - 1 - cell_of(y, plot.height(), plane.rows);
        for (int x = 0; x < static_cast<int>(plot.width()); ++x) {
            const auto column = cell_of(x, plot.width(), plane.columns);
            const auto value = values[static_cast<std::size_t>(row * plane.columns + column)];
            canvas.set(static_cast<int>(plot.left) + x, static_cast<int>(plot.top) + y,
                       colour_of(static_cast<double>(value), range, map));
        }
    }
}

// A pixel belongs to the outline where its right or lower neighbour is on the other side; two pixels wide.
void draw_outline(Canvas& canvas, const Rectangle& plot, const FieldPicture::Outline& outline,
                  Colour colour) {
    const auto width = static_cast<int>(plot.width());
    const auto height = static_cast<int>(plot.height());
    const auto inside = [&](int x, int y) {
        const auto row = outline.rows - 1 - cell_of(y, plot.height(), outline.rows);
        const auto column = cell_of(x, plot.width(), outline.columns);
        return outline.inside[static_cast<std::size_t>(row * outline.columns + column)] != 0;
    };
    const int left = static_cast<int>(plot.left);
    const int top = static_cast<int>(plot.top);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const bool here = inside(x, y);
            if (x + 1 < width && inside(x + 1, y) != here) {
                canvas.set(left + x, top + y, colour);
                canvas.set(left + x + 1, top + y, colour);
            }
            if (y + 1 < height && inside(x, y + 1) != here) {
                canvas.set(left + x, top + y, colour);
                canvas.set(left + x, top + y + 1, colour);
            }
        }
}

int bar_ticks(const Rectangle& plot) { return plot.height() > 300 ? 6 : 3; }

// Pixels to the right of the plane: the bar, its numbers and its label, as draw_right_axis places them.
double bar_space(const Rectangle& plot, const ValueRange& range, const Theme& theme) {
    double widest = 0;
    for (const auto& tick : ticks_of({range.low, range.high, false, ""}, bar_ticks(plot)))
        widest = std::max(widest, text_width(tick.text, theme.text));
    return bar_gap + bar_width + theme.tick + widest + 4.5 * theme.text;
}

void draw_bar(Canvas& canvas, const Rectangle& plot, const ValueRange& range, const std::string& label,
              const ColourMap& map, const Theme& theme) {
    const Rectangle bar{plot.right + bar_gap, plot.top, plot.right + bar_gap + bar_width, plot.bottom};
    for (int y = static_cast<int>(bar.top); y < static_cast<int>(bar.bottom); ++y) {
        const double t = (bar.bottom - y - 0.5) / bar.height();
        for (int x = static_cast<int>(bar.left); x < static_cast<int>(bar.right); ++x)
            canvas.set(x, y, colour_of(range.low + t * (range.high - range.low), range, map));
    }
    draw_right_axis(canvas, bar, {range.low, range.high, false, label}, theme, bar.height() > 300 ? 6 : 3);
}

void draw_curve(Canvas& canvas, const Rectangle& plot, const Plane& plane, std::span<const float> values,
                const ValueRange& range) {
    constexpr Colour blue{2, 101, 197};
    constexpr Colour faint{200, 200, 208};
    Polyline line;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double x = (static_cast<double>(i) + 0.5) / static_cast<double>(plane.columns);
        const double y = (static_cast<double>(values[i]) - range.low) / (range.high - range.low);
        line.push_back({plot.left + x * plot.width(), plot.bottom - y * plot.height()});
    }
    canvas.clip(plot);
    if (range.two_signs()) {
        const double zero = plot.bottom + range.low / (range.high - range.low) * plot.height();
        const Polyline axis{{plot.left, zero}, {plot.right, zero}};
        canvas.stroke(std::span(&axis, 1), 1.4, faint);
    }
    canvas.stroke(std::span(&line, 1), 2.4, blue);
    canvas.clip_off();
}

void draw_title(Canvas& canvas, const Rectangle& plot, const FieldPicture& picture, const Theme& theme) {
    const double baseline = plot.top - 1.5 * theme.text;
    const double right = std::max(plot.right, left_margin + 400);
    draw_text(canvas, {right, baseline}, picture.moment, {1.15 * theme.text, theme.ink, Align::right});
    auto title = picture.title;
    const double room = right - left_margin - text_width(picture.moment, 1.15 * theme.text) - 3 * theme.text;
    for (const auto& shorter : picture.shorter_titles)
        if (text_width(title, 1.2 * theme.text) > room) title = shorter;
    while (!title.empty() && text_width(title, 1.2 * theme.text) > room) title.pop_back();
    draw_text(canvas, {plot.left, baseline}, title, {1.2 * theme.text, theme.ink, Align::left});
}

} // namespace

ValueRange range_of(std::span<const float> values) {
    double low = 0.0;
    double high = 0.0;
    std::vector<float> sizes;
    sizes.reserve(values.size());
    double least = values.empty() ? 0.0 : static_cast<double>(values.front());
    for (const float value : values) {
        low = std::min(low, static_cast<double>(value));
        high = std::max(high, static_cast<double>(value));
        least = std::min(least, static_cast<double>(value));
        sizes.push_back(std::abs(value));
    }
    double largest = std::max(high, -low);
    ValueRange range;
    if (!sizes.empty() && least <= 0.5 * largest) {
        const auto place = sizes.begin() + static_cast<std::ptrdiff_t>((sizes.size() - 1) * 999 / 1000);
        std::nth_element(sizes.begin(), place, sizes.end());
        const auto nearly_all = static_cast<double>(*place);
        if (nearly_all > 0.0 && largest > 3.0 * nearly_all) {
            largest = nearly_all;
            range.cut = true;
        }
    }
    range.high = largest > 1e-300 && largest < 1e300 ? round_up(largest) : 1.0;
    if (low < 0.0) range.low = -range.high;
    if (least > 0.5 * largest) { // far from 0: between the smallest and the largest, wide enough for numbers
        const double width = high > least ? std::max(high - least, 1e-6 * largest) : 0.1 * largest;
        const double margin = high > least ? 0.02 * width : 0.5 * width;
        range.low = least - margin;
        range.high = high + margin;
    }
    return range;
}

Reduced reduce(const Plane& plane, std::span<const double> values, std::int64_t most) {
    // Each direction by itself, so that a thin plane keeps its rows.
    const auto reduced = [&](std::int64_t cells) {
        const auto step = (cells + most - 1) / most;
        return (cells + step - 1) / step;
    };
    Reduced out{plane, {}};
    const auto columns = out.plane.columns = reduced(plane.columns);
    const auto rows = out.plane.rows = reduced(plane.rows);
    out.values.reserve(static_cast<std::size_t>(columns * rows));
    // Blocks differ by a cell where the step does not divide the plane.
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
            double sum = 0.0;
            std::int64_t cells = 0;
            for (auto i = r * plane.rows / rows; i < (r + 1) * plane.rows / rows; ++i)
                for (auto j = c * plane.columns / columns; j < (c + 1) * plane.columns / columns;
                     ++j, ++cells)
                    sum += values[static_cast<std::size_t>(i * plane.columns + j)];
            out.values.push_back(static_cast<float>(sum / static_cast<double>(cells)));
        }
    return out;
}

Canvas draw_field(const Plane& plane, std::span<const float> values, const ValueRange& range,
                  const FieldPicture& picture) {
    const Theme theme;
    const auto plot = place_of(plane, picture.size, picture.to_scale);
    const bool curve = plane.rows == 1;
    const double right =
        std::max(plot.right + (curve ? 40 : bar_space(plot, range, theme)), left_margin + 440);
    Canvas canvas(static_cast<int>(right), static_cast<int>(plot.bottom + bottom_margin), theme.paper);
    const Axis x{plane.left, plane.right, false, plane.x_label};
    const int x_ticks = std::clamp(static_cast<int>(plot.width() / 130), 2, 7);
    const int y_ticks = std::clamp(static_cast<int>(plot.height() / 110), 3, 7);
    const auto label = range.cut ? picture.values_label + " (some values lie beyond)" : picture.values_label;
    if (curve) {
        draw_curve(canvas, plot, plane, values, range);
        draw_frame(canvas, plot, x, {range.low, range.high, false, label}, theme,
                   {.ticks = theme.ink, .x_ticks = x_ticks, .y_ticks = y_ticks});
    } else {
        constexpr Colour pale{215, 215, 222};
        constexpr Colour dark{70, 70, 80};
        const auto& map = map_of(range, picture.colours);
        const auto over = map.centred ? dark : pale;
        draw_cells(canvas, plot, plane, values, range, map);
        for (const auto& outline : picture.outlines) draw_outline(canvas, plot, outline, over);
        draw_frame(canvas, plot, x, {plane.bottom, plane.top, false, plane.y_label}, theme,
                   {.ticks = over, .x_ticks = x_ticks, .y_ticks = y_ticks});
        draw_bar(canvas, plot, range, label, map, theme);
    }
    draw_title(canvas, plot, picture, theme);
    return canvas;
}

} // namespace farfield::picture
