// The picture of a snapshot: page layout, colours, title.
#include "backend/threads/parallel.h"
#include "base/text.h"
#include "io/picture.h"
#include "io/picture/axes.h"
#include "io/picture/bodies_marks.h"
#include "io/picture/bodies_view.h"
#include "io/picture/canvas.h"
#include "io/picture/colour_map.h"
#include "io/picture/text.h"
#include "math/portable/functions.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

using namespace picture;

constexpr double left_margin = 120;
constexpr double top_margin = 70;
constexpr double bottom_margin = 90;
constexpr double right_margin = 40;
constexpr double bar_gap = 26;
constexpr double bar_width = 30;
constexpr double bar_space = 150;               // the bar with its numbers and label
constexpr std::int64_t bodies_as_stars = 20000; // up to so many are also drawn as points
constexpr double most_decades = 5.0;            // of densities

double log10_of(double value) { return portable::log(value) * picture::log10_e; }

ShownDensity shown_density(const Bodies& bodies, std::optional<ShownDensity> wanted) {
    if (wanted == ShownDensity::charge && bodies.charge.empty())
        throw InvalidArgument("a picture of the charges of bodies that have none; show their mass");
    if (wanted) return *wanted;
    const auto any = [&](auto test) { return std::any_of(bodies.charge.begin(), bodies.charge.end(), test); };
    const bool two_signs = any([](double q) { return q < 0.0; }) && any([](double q) { return q > 0.0; });
    return two_signs ? ShownDensity::charge : ShownDensity::mass;
}

const std::vector<double>& weights_of(const Bodies& bodies, ShownDensity shown) {
    return shown == ShownDensity::charge ? bodies.charge : bodies.mass;
}

// From the density that nearly all of the covered area exceeds to the largest, at most `most_decades`.
void choose_mass_range(const std::vector<double>& density, PictureFrame& frame) {
    std::vector<double> positive;
    for (const double value : density)
        if (value > 0.0) positive.push_back(value);
    frame.low = -1.0;
    frame.high = 0.0;
    if (positive.empty()) return;
    const auto low = positive.begin() + static_cast<std::ptrdiff_t>(positive.size() / 20);
    std::nth_element(positive.begin(), low, positive.end());
    const double lowest = *low;
    const double largest = *std::max_element(positive.begin(), positive.end());
    frame.high = log10_of(largest);
    frame.low = std::max(frame.high - most_decades, log10_of(lowest));
    frame.low = std::min(frame.low, frame.high - 1.0);
}

// The same on both sides of 0, so that white means neutral; few of the charged pixels lie beyond.
void choose_charge_range(const std::vector<double>& density, PictureFrame& frame) {
    std::vector<double> sizes;
    for (const double value : density)
        if (value != 0.0) sizes.push_back(std::abs(value));
    frame.high = 1.0;
    if (!sizes.empty()) {
        const auto high = sizes.end() - 1 - static_cast<std::ptrdiff_t>(sizes.size() / 500);
        std::nth_element(sizes.begin(), high, sizes.end());
        if (*high > 1e-90) frame.high = round_up(*high);
    }
    frame.low = -frame.high;
}

void choose_range(const std::vector<double>& density, ShownDensity shown, PictureFrame& frame) {
    (shown == ShownDensity::charge ? choose_charge_range : choose_mass_range)(density, frame);
}

Colour colour_of_density(double value, ShownDensity shown, const PictureFrame& frame) {
    if (shown == ShownDensity::charge) return signed_colour(value / frame.high);
    return density_colour(value > 0.0 ? (log10_of(value) - frame.low) / (frame.high - frame.low) : 0.0);
}

void draw_density(Canvas& canvas, const Rectangle& plot, const std::vector<double>& density,
                  ShownDensity shown, const PictureFrame& frame) {
    const int size = static_cast<int>(plot.width());
    std::size_t next = 0;
    for (int row = 0; row < size; ++row)
        for (int column = 0; column < size; ++column)
            canvas.set(static_cast<int>(plot.left) + column, static_cast<int>(plot.bottom) - 1 - row,
                       colour_of_density(density[next++], shown, frame));
}

void draw_colour_bar(Canvas& canvas, const Rectangle& plot, ShownDensity shown, const PictureFrame& frame,
                     const SnapshotInfo& info, const Theme& theme) {
    const Rectangle bar{plot.right + bar_gap, plot.top, plot.right + bar_gap + bar_width, plot.bottom};
    const bool charge = shown == ShownDensity::charge;
    for (int y = static_cast<int>(bar.top); y < static_cast<int>(bar.bottom); ++y) {
        const double t = (bar.bottom - y - 0.5) / bar.height();
        for (int x = static_cast<int>(bar.left); x < static_cast<int>(bar.right); ++x)
            canvas.set(x, y, charge ? signed_colour(2 * t - 1) : density_colour(t));
    }
    std::string label = charge ? "surface charge density" : "log_{10} surface density";
    if (!charge && !info.units.mass.name.empty() && !info.units.length.name.empty())
        label = fmt::format("{} [{} / {}^{{2}}]", label, info.units.mass.name, info.units.length.name);
    draw_right_axis(canvas, bar, {frame.low, frame.high, false, label}, theme, 6);
}

// Of few bodies, ", 1 outside" where one is not in the picture, or who it is.
std::string outside_text(const Bodies& bodies, const SnapshotInfo& info, const Projection& projection,
                         bool by_name) {
    if (!are_few(bodies)) return {};
    std::size_t outside = 0;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        if (projection.shows(bodies, i)) continue;
        ++outside;
        if (i < info.body_names.size()) names.push_back(info.body_names[i]);
    }
    if (outside == 0) return {};
    if (!by_name || names.size() < outside) return fmt::format(", {} outside", outside);
    return fmt::format(", outside: {}", joined(names, ", "));
}

void draw_title(Canvas& canvas, const Rectangle& plot, const Bodies& bodies, const SnapshotInfo& info,
                const Projection& projection, const Theme& theme) {
    const double baseline = plot.top - 1.5 * theme.text;
    const auto unit = time_unit_name(info.units);
    const double large = 1.3 * theme.text;
    const double small = 1.15 * theme.text;
    const auto right_text = [&](bool by_name) {
        return fmt::format("t = {}{}{}    N = {}{}", number_text(info.time, 6), unit.empty() ? "" : " ", unit,
                           number_text(static_cast<double>(bodies.size()), 9),
                           outside_text(bodies, info, projection, by_name));
    };
    const auto room = [&](const std::string& right) {
        return plot.width() - text_width(right, small) - 3 * theme.text;
    };
    auto right = right_text(true);
    if (room(right) < text_width(info.name, large)) right = right_text(false);
    draw_text(canvas, {plot.right, baseline}, right, {small, theme.ink, Align::right});
    auto name = info.name;
    while (!name.empty() && text_width(name, large) > room(right)) name.pop_back();
    draw_text(canvas, {plot.left, baseline}, name, {large, theme.ink, Align::left});
}

void draw_few(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies,
              const SnapshotInfo& info, const Trails* trails, const Theme& theme) {
    if (trails != nullptr) draw_trails(canvas, plot, projection, bodies, *trails, info.time);
    draw_discs(canvas, plot, projection, bodies, trails != nullptr);
    if (info.body_names.size() == bodies.mass.size())
        draw_names(canvas, plot, projection, bodies, info.body_names, 0.9 * theme.text);
}

} // namespace

// The unit of time where that of velocity is one length per something: "au/day" gives "day".
std::string time_unit_name(const Units& units) {
    const std::string_view velocity = units.velocity.name;
    const auto length = units.length.name.size();
    if (length == 0 || !velocity.starts_with(units.length.name) || !velocity.substr(length).starts_with('/'))
        return "";
    return std::string(velocity.substr(length + 1));
}

PictureFrame picture_frame(const Bodies& bodies, const std::string& plane_name, double width,
                           std::optional<ShownDensity> show, const std::array<double, 3>& box, int threads) {
    const auto plane = view_plane(plane_name);
    require_drawable(bodies);
    const auto shown = shown_density(bodies, show);
    auto frame = frame_without_range(bodies, plane, width, box);
    require_usable(frame);
    const int size = DensityPlotOptions{}.size;
    if (!are_few(bodies)) {
        const auto around = with_images(bodies, plane, box);
        const Projection projection(frame, plane, size);
        choose_range(projection.surface_density(around, weights_of(around, shown), thread_count(threads)),
                     shown, frame);
    }
    return frame;
}

PictureFrame joined(const PictureFrame& a, const PictureFrame& b) {
    if (!(a.width > 0.0)) return b;
    if (!(b.width > 0.0)) return a;
    PictureFrame frame = a;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double low = std::min(a.centre[axis] - a.width / 2, b.centre[axis] - b.width / 2);
        const double high = std::max(a.centre[axis] + a.width / 2, b.centre[axis] + b.width / 2);
        frame.centre[axis] = low / 2 + high / 2;
        frame.width = std::max(frame.width, high - low);
    }
    frame.low = std::min(a.low, b.low);
    frame.high = std::max(a.high, b.high);
    return frame;
}

picture::Canvas draw_bodies(const Bodies& bodies, const SnapshotInfo& info,
                            const DensityPlotOptions& options) {
    const auto plane = view_plane(options.plane);
    require_drawable(bodies);
    const auto shown = shown_density(bodies, options.show);
    auto frame = options.frame;
    if (!(frame.width > 0.0)) frame = frame_without_range(bodies, plane, 0.0, info.box);
    require_usable(frame);
    const bool few = are_few(bodies);
    const Theme theme;
    const Projection projection(frame, plane, options.size);
    const Rectangle plot{left_margin, top_margin, left_margin + options.size, top_margin + options.size};
    Canvas canvas(static_cast<int>(plot.right + right_margin + (few ? 0.0 : bar_space)),
                  static_cast<int>(plot.bottom + bottom_margin), theme.paper);
    if (few) {
        for (int y = 0; y < options.size; ++y)
            for (int x = 0; x < options.size; ++x)
                canvas.set(static_cast<int>(plot.left) + x, static_cast<int>(plot.top) + y,
                           density_colour(0.0));
        draw_few(canvas, plot, projection, bodies, info, options.trails, theme);
    } else {
        const auto around = with_images(bodies, plane, info.box);
        const auto density =
            projection.surface_density(around, weights_of(around, shown), thread_count(options.threads));
        if (!(frame.low < frame.high)) choose_range(density, shown, frame);
        draw_density(canvas, plot, density, shown, frame);
        if (bodies.size() <= bodies_as_stars)
            draw_stars(canvas, plot, projection, bodies, options.size, shown == ShownDensity::charge,
                       thread_count(options.threads));
        draw_colour_bar(canvas, plot, shown, frame, info, theme);
    }
    constexpr Colour pale{225, 225, 230}; // ticks on the dark map
    constexpr Colour dark{70, 70, 80};    // and on the light one of charges
    draw_frame(canvas, plot, projection.axis(plane.right, frame.width, info.units.length.name),
               projection.axis(plane.up, frame.width, info.units.length.name), theme,
               {.ticks = !few && shown == ShownDensity::charge ? dark : pale});
    draw_title(canvas, plot, bodies, info, projection, theme);
    return canvas;
}

void plot_density(const std::filesystem::path& png, const Bodies& bodies, const SnapshotInfo& info,
                  const DensityPlotOptions& options) {
    draw_bodies(bodies, info, options).write_png(png);
}

} // namespace farfield
