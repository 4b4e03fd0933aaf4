#include "io/picture/plot_curves.h"

#include "io/picture/axes.h"
#include "io/picture/text.h"
#include "math/portable/functions.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace farfield::picture {
namespace {

constexpr int curves_width = 1200;
constexpr int curves_height = 800;
constexpr Rectangle plot_area{150, 70, 930, 700};
constexpr double names_left = 950.0;
constexpr double curve_line = 2.6;
constexpr double mark = 5.0;
constexpr std::array<Colour, 7> curve_colours{{{40, 84, 160},
                                               {216, 68, 62},
                                               {58, 140, 82},
                                               {235, 160, 50},
                                               {102, 19, 125},
                                               {60, 160, 180},
                                               {120, 120, 128}}};

std::vector<double> logarithms_of(const std::vector<double>& values) {
    std::vector<double> logs;
    for (const double value : values) {
        if (!(value > 0.0) || !std::isfinite(value))
            throw InvalidArgument(
                fmt::format("{} cannot be drawn over a logarithmic axis; numbers above 0 are needed", value));
        logs.push_back(portable::log(value) * log10_e);
    }
    return logs;
}

// A little room on both sides, at least a decade in all.
Axis axis_over(const std::vector<std::vector<double>>& logs, const std::string& label) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& values : logs)
        for (const double value : values) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    if (!(low <= high)) throw InvalidArgument("there is nothing to draw: no curve has a point");
    const double room = std::max(0.05 * (high - low), 0.5 * (1.0 - (high - low)));
    return {low - room, high + room, true, label};
}

Polyline places(const std::vector<double>& x, const std::vector<double>& y, const Axis& across,
                const Axis& up) {
    Polyline line;
    for (std::size_t i = 0; i < x.size(); ++i)
        line.push_back({plot_area.left + across.fraction(x[i]) * plot_area.width(),
                        plot_area.bottom - up.fraction(y[i]) * plot_area.height()});
    return line;
}

std::vector<Polyline> dashes(const Polyline& line) {
    constexpr double dash = 14.0, gap = 9.0;
    std::vector<Polyline> out;
    for (std::size_t i = 1; i < line.size(); ++i) {
        const double dx = line[i].x - line[i - 1].x, dy = line[i].y - line[i - 1].y;
        const double length = std::sqrt(dx * dx + dy * dy);
        const auto at = [&](double s) {
            return Point{line[i - 1].x + dx * s / length, line[i - 1].y + dy * s / length};
        };
        for (double s = 0.0; s < length; s += dash + gap)
            out.push_back({at(s), at(std::min(length, s + dash))});
    }
    return out;
}

void draw_lines_of_ticks(Canvas& canvas, const Axis& across, const Axis& up, const Theme& theme) {
    std::vector<Polyline> lines;
    for (const auto& tick : ticks_of(across, 6)) {
        const double at = plot_area.left + across.fraction(tick.value) * plot_area.width();
        if (!tick.text.empty()) lines.push_back({{at, plot_area.top}, {at, plot_area.bottom}});
    }
    for (const auto& tick : ticks_of(up, 6)) {
        const double at = plot_area.bottom - up.fraction(tick.value) * plot_area.height();
        if (!tick.text.empty()) lines.push_back({{plot_area.left, at}, {plot_area.right, at}});
    }
    canvas.stroke(lines, 1.0, theme.faint);
}

struct DrawnCurve {
    const NamedCurve* curve;
    Polyline line;
    Colour colour;
};

void draw_names(Canvas& canvas, std::vector<DrawnCurve> drawn, const Theme& theme) {
    const auto end_of = [](const DrawnCurve& one) { return one.line.empty() ? 0.0 : one.line.back().y; };
    std::stable_sort(drawn.begin(), drawn.end(),
                     [&](const auto& a, const auto& b) { return end_of(a) < end_of(b); });
    double baseline = plot_area.top + theme.text;
    for (const auto& one : drawn) {
        const Polyline sample{{names_left, baseline - theme.text / 2},
                              {names_left + 36, baseline - theme.text / 2}};
        canvas.stroke(one.curve->dashed ? dashes(sample) : std::vector<Polyline>{sample}, curve_line,
                      one.colour);
        draw_text(canvas, {names_left + 46, baseline}, one.curve->name, {theme.text, theme.ink, Align::left});
        baseline += 2.0 * theme.text;
    }
}

} // namespace

void plot_curves(const std::filesystem::path& png, const CurvesPlot& plot) {
    std::vector<std::vector<double>> x, y;
    for (const auto& curve : plot.curves) {
        x.push_back(logarithms_of(curve.x));
        y.push_back(logarithms_of(curve.y));
    }
    const auto across = axis_over(x, plot.x_label);
    const auto up = axis_over(y, plot.y_label);
    const Theme theme;
    Canvas canvas(curves_width, curves_height, theme.paper);
    draw_lines_of_ticks(canvas, across, up, theme);
    std::vector<DrawnCurve> drawn;
    for (std::size_t k = 0; k < plot.curves.size(); ++k) {
        const auto& curve = plot.curves[k];
        drawn.push_back({&curve, places(x[k], y[k], across, up), curve_colours[k % curve_colours.size()]});
        const auto& [_, line, colour] = drawn.back();
        canvas.stroke(curve.dashed ? dashes(line) : std::vector<Polyline>{line}, curve_line, colour);
        for (const auto& place : line) canvas.disc(place, mark, colour);
    }
    draw_frame(canvas, plot_area, across, up, theme, {.ticks = theme.ink});
    draw_text(canvas, {plot_area.left, plot_area.top - 1.5 * theme.text}, plot.title,
              {theme.text, theme.ink, Align::left});
    draw_names(canvas, std::move(drawn), theme);
    canvas.write_png(png);
}

} // namespace farfield::picture
