// The picture of a run: energy error and Lagrangian radii against time; in periodic boxes the changes of the
// energies instead of radii.
#include "io/picture.h"
#include "io/picture/axes.h"
#include "io/picture/text.h"
#include "math/portable/functions.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace farfield {
namespace {

using namespace picture;

constexpr int page_width = 1200;
constexpr int page_height = 1000;
constexpr Rectangle upper{150, 50, 1160, 440};
constexpr Rectangle lower{150, 480, 1160, 900};
constexpr double label_distance = 88.0;
constexpr double curve_width = 2.6;
constexpr double least_error = 1e-17;   // smaller ones, and 0, are drawn here
constexpr double largest_value = 1e100; // keeps every span finite
constexpr double linear_up_to = 30.0;   // radii that span more than this factor get a logarithmic axis

struct Curve {
    std::vector<double> values; // on the axis: logarithms where that is logarithmic
    Colour colour;
    std::string name;
};

const std::vector<double>& column(const Table& table, std::string_view name) {
    const auto* values = table.find(name);
    if (values == nullptr)
        throw InvalidArgument(
            fmt::format("the diagnostics have no column '{}'; time, relative_energy_error, r10, r50 and "
                        "r90 are needed, as in a run's diagnostics.csv",
                        name));
    for (std::size_t i = 0; i < values->size(); ++i)
        if (!(std::abs((*values)[i]) <= largest_value))
            throw InvalidArgument(
                fmt::format("row {} (counted from 0) of the diagnostics has {} = {}; numbers up to {} are "
                            "needed: remove that row",
                            i, name, (*values)[i], largest_value));
    return *values;
}

std::vector<double> logarithms(const std::vector<double>& values, double least) {
    std::vector<double> logs;
    logs.reserve(values.size());
    for (const double value : values)
        logs.push_back(portable::log(std::max(std::abs(value), least)) * picture::log10_e);
    return logs;
}

// Consecutive points that fall within half a pixel are one.
Polyline points_of(const std::vector<double>& times, const std::vector<double>& values, std::size_t first,
                   const Rectangle& panel, const Axis& x, const Axis& y) {
    Polyline line;
    constexpr double least_distance = 0.5;
    for (std::size_t i = first; i < times.size(); ++i) {
        const Point point{panel.left + x.fraction(times[i]) * panel.width(),
                          panel.bottom - y.fraction(values[i]) * panel.height()};
        if (line.empty() || i + 1 == times.size() || std::abs(point.x - line.back().x) > least_distance ||
            std::abs(point.y - line.back().y) > least_distance)
            line.push_back(point);
    }
    return line;
}

void draw_grid(Canvas& canvas, const Rectangle& panel, const Axis& x, const Axis& y, const Theme& theme) {
    std::vector<Polyline> lines;
    for (const auto& tick : ticks_of(x, 8))
        if (!tick.text.empty()) {
            const double at = panel.left + x.fraction(tick.value) * panel.width();
            lines.push_back({{at, panel.top}, {at, panel.bottom}});
        }
    for (const auto& tick : ticks_of(y, 6))
        if (!tick.text.empty()) {
            const double at = panel.bottom - y.fraction(tick.value) * panel.height();
            lines.push_back({{panel.left, at}, {panel.right, at}});
        }
    canvas.stroke(lines, 1.0, theme.faint);
}

struct Panel {
    Rectangle place;
    Axis x;
    Axis y;
    std::vector<Curve> curves;
    std::size_t first = 0; // row of the first point
};

void draw_panel(Canvas& canvas, const Panel& panel, const std::vector<double>& times, bool x_texts,
                const Theme& theme) {
    draw_grid(canvas, panel.place, panel.x, panel.y, theme);
    canvas.clip(panel.place);
    for (const auto& curve : panel.curves) {
        const Polyline line = points_of(times, curve.values, panel.first, panel.place, panel.x, panel.y);
        canvas.stroke(std::span(&line, 1), curve_width, curve.colour);
    }
    canvas.clip_off();
    draw_frame(canvas, panel.place, panel.x, panel.y, theme,
               {.x_texts = x_texts, .ticks = theme.ink, .x_ticks = 8, .y_label_distance = label_distance});
}

// Room above and below the curves.
Axis axis_for(const std::vector<Curve>& curves, std::size_t first, bool logarithmic, std::string label) {
    double low = curves[0].values[first];
    double high = low;
    for (const auto& curve : curves)
        for (std::size_t i = first; i < curve.values.size(); ++i) {
            low = std::min(low, curve.values[i]);
            high = std::max(high, curve.values[i]);
        }
    if (!logarithmic) low = std::min(low, 0.0);
    if (logarithmic && high - low < 1.0) { // at least a decade
        const double middle = (low + high) / 2;
        low = middle - 0.5;
        high = middle + 0.5;
    }
    if (!(high - low > 1e-90)) high = low + 1.0;
    const double span = high - low;
    return {logarithmic ? low - 0.06 * span : low, high + 0.08 * span, logarithmic, std::move(label)};
}

// Names beside a short line of each curve's colour, on paper, at the upper right or lower left.
void draw_legend(Canvas& canvas, const Panel& panel, const Theme& theme) {
    double right = panel.place.right;
    for (auto curve = panel.curves.rbegin(); curve != panel.curves.rend(); ++curve) {
        const double baseline = panel.place.top - 0.9 * theme.text;
        right -= text_width(curve->name, theme.text);
        draw_text(canvas, {right, baseline}, curve->name, {theme.text, theme.ink, Align::left});
        const Polyline sample{{right - 44, baseline - theme.text / 2},
                              {right - 12, baseline - theme.text / 2}};
        canvas.stroke(std::span(&sample, 1), curve_width, curve->colour);
        right -= 76;
    }
}

std::string with_unit(const char* label, const std::string& unit) {
    return unit.empty() ? std::string(label) : fmt::format("{} [{}]", label, unit);
}

constexpr std::array<Colour, 3> curve_colours{{{102, 19, 125}, {216, 68, 62}, {235, 160, 50}}};

Panel panel_of_radii(const Table& diagnostics, const Axis& time, const Units& units) {
    const std::array radii{&column(diagnostics, "r10"), &column(diagnostics, "r50"),
                           &column(diagnostics, "r90")};
    const double largest = *std::max_element(radii[2]->begin(), radii[2]->end());
    const double smallest = *std::min_element(radii[0]->begin(), radii[0]->end());
    const bool logarithmic = smallest > 0.0 && largest > linear_up_to * smallest;
    constexpr std::array names{"10 %", "50 %", "90 % of the mass"};
    Panel out{.place = lower, .x = time, .y = {}, .curves = {}};
    for (std::size_t i = 0; i < radii.size(); ++i)
        out.curves.push_back(
            {logarithmic ? logarithms(*radii[i], smallest) : *radii[i], curve_colours[i], names[i]});
    out.y = axis_for(out.curves, 0, logarithmic, with_unit("Lagrangian radii", units.length.name));
    return out;
}

// What a flow of vortices keeps, but for the angular impulse where cores spread.
Panel panel_of_impulses(const Table& diagnostics, const Axis& time) {
    constexpr std::array columns{"angular_impulse", "impulse_x", "impulse_y"};
    constexpr std::array names{"angular", "along x", "along y"};
    Panel out{.place = lower, .x = time, .y = {}, .curves = {}};
    for (std::size_t i = 0; i < columns.size(); ++i)
        out.curves.push_back({column(diagnostics, columns[i]), curve_colours[i], names[i]});
    out.y = axis_for(out.curves, 0, false, "impulses");
    return out;
}

// Of a periodic box, in which no radii are: what one of the energies gives to the other.
Panel panel_of_energies(const Table& diagnostics, const Axis& time) {
    Panel out{.place = lower, .x = time, .y = {}, .curves = {}};
    const auto add = [&](const char* name, const Colour& colour) {
        auto values = column(diagnostics, name);
        for (auto& value : values) value -= diagnostics.find(name)->front();
        out.curves.push_back({std::move(values), colour, name});
    };
    add("kinetic", curve_colours[1]);
    add("potential", curve_colours[0]);
    out.y = axis_for(out.curves, 0, false, "energy − that at the start");
    return out;
}

} // namespace

void plot_diagnostics(const std::filesystem::path& png, const Table& diagnostics, const Units& units) {
    const bool vortices = diagnostics.find("hamiltonian_error") != nullptr;
    const auto& times = column(diagnostics, "time");
    const auto& errors = column(diagnostics, vortices ? "hamiltonian_error" : "relative_energy_error");
    const bool in_box = !vortices && diagnostics.find("r50") == nullptr &&
                        diagnostics.find("kinetic") != nullptr && diagnostics.find("potential") != nullptr;
    for (const auto* name : {"r10", "r50", "r90"})
        if (!vortices && !in_box) (void)column(diagnostics, name);
    if (times.size() < 2)
        throw InvalidArgument(
            fmt::format("the diagnostics have {} rows; a picture needs two or more: let the run go on or "
                        "set a smaller diagnostics_every",
                        times.size()));
    const auto [begin, end] = std::minmax_element(times.begin(), times.end());
    // Closer times than this share an axis only by their rounding.
    if (!(*end - *begin > 1e-9 * std::max(std::abs(*begin), std::abs(*end))))
        throw InvalidArgument(fmt::format(
            "all rows of the diagnostics have times near {}; a picture needs different times", *begin));
    const Axis time{*begin, *end, false, with_unit("time", time_unit_name(units))};

    const auto below = vortices ? panel_of_impulses(diagnostics, time)
                       : in_box ? panel_of_energies(diagnostics, time)
                                : panel_of_radii(diagnostics, time, units);
    Panel error;
    error.place = upper;
    error.x = time;
    error.curves.push_back({logarithms(errors, least_error), {40, 84, 160}, ""});
    error.first = errors[0] == 0.0 ? 1U : 0U; // the first row is the reference of the errors
    error.y = axis_for(error.curves, error.first, true, vortices ? "|ΔH|" : "|ΔE / E_{0}|");

    const Theme theme;
    Canvas canvas(page_width, page_height, theme.paper);
    draw_panel(canvas, error, times, false, theme);
    draw_panel(canvas, below, times, true, theme);
    draw_legend(canvas, below, theme);
    canvas.write_png(png);
}

} // namespace farfield
