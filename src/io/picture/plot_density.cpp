// The picture of a snapshot: page layout, projection, colours.
#include "base/text.h"
#include "io/picture.h"
#include "io/picture/axes.h"
#include "io/picture/colour_map.h"
#include "io/picture/density_map.h"
#include "io/picture/text.h"
#include "math/portable/functions.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace farfield {
namespace {

using namespace picture;

constexpr int plot_size = 900; // pixels of the square
constexpr double left_margin = 120;
constexpr double top_margin = 70;
constexpr double bottom_margin = 90;
constexpr double right_margin = 40;
constexpr double bar_gap = 26;
constexpr double bar_width = 30;
constexpr double bar_space = 150;               // the bar with its numbers and label
constexpr std::int64_t few_bodies = 200;        // fewer are drawn as discs
constexpr std::int64_t bodies_as_stars = 20000; // up to so many are also drawn as points
constexpr double shown_part = 0.95;             // of many bodies; all of few
constexpr double most_decades = 5.0;            // of densities

double log10_of(double value) { return portable::log(value) * picture::log10_e; }

struct Plane {
    std::size_t right;
    std::size_t up;
};

Plane plane_of(const std::string& name) {
    if (name == "xy") return {0, 1};
    if (name == "xz") return {0, 2};
    if (name == "yz") return {1, 2};
    constexpr std::array<std::string_view, 3> known{"xy", "xz", "yz"};
    throw InvalidArgument(
        fmt::format("the plane of a picture is '{}'; allowed are {}", name, list_of_words(known)));
}

void require_drawable(const Bodies& bodies) {
    const auto n = static_cast<std::size_t>(bodies.size());
    if (n == 0) throw InvalidArgument("a picture of no bodies; at least one is needed");
    if (bodies.position.size() != 3 * n)
        throw InvalidArgument(fmt::format("a picture of {} bodies with {} coordinates; 3 a body are needed",
                                          n, bodies.position.size()));
    // Beyond these, areas and densities leave the range of a double.
    constexpr double largest = 1e100;
    for (std::size_t i = 0; i < 3 * n; ++i)
        if (!(std::abs(bodies.position[i]) <= largest) || !(std::abs(bodies.mass[i / 3]) <= largest))
            throw InvalidArgument(
                fmt::format("a picture of bodies, of which row {} (counted from 0) is at {} with mass {}; "
                            "numbers up to {} are needed: correct it or change units",
                            i / 3, bodies.position[i], bodies.mass[i / 3], largest));
}

// The centre of mass of few bodies, so that a star stays in the middle; of many, the middle of where nearly
// all are, so that two unequal clusters both fit.
std::array<double, 3> centre_of(const Bodies& bodies) {
    const auto n = bodies.mass.size();
    std::array<double, 3> centre{};
    if (bodies.size() >= few_bodies) {
        std::vector<double> line(n);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            for (std::size_t i = 0; i < n; ++i) line[i] = bodies.position[3 * i + axis];
            std::sort(line.begin(), line.end());
            const auto outside = static_cast<std::size_t>((1.0 - shown_part) / 2 * static_cast<double>(n));
            centre[axis] = line[outside] / 2 + line[n - 1 - outside] / 2;
        }
        return centre;
    }
    double total = 0.0;
    for (const double mass : bodies.mass) total += mass;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
            centre[axis] += bodies.position[3 * i + axis] *
                            (total > 0.0 ? bodies.mass[i] / total : 1.0 / static_cast<double>(n));
    return centre;
}

// Round and wide enough for `shown_part` of the bodies, or for all where they are few: of these the distance
// counts, so that a planet stays inside when it comes round.
double width_for(const Bodies& bodies, const Plane& plane, const std::array<double, 3>& centre) {
    std::vector<double> reach;
    reach.reserve(bodies.mass.size());
    const bool few = bodies.size() < few_bodies;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        const auto off = [&](std::size_t axis) { return bodies.position[3 * i + axis] - centre[axis]; };
        reach.push_back(few ? std::sqrt(off(0) * off(0) + off(1) * off(1) + off(2) * off(2))
                            : std::max(std::abs(off(plane.right)), std::abs(off(plane.up))));
    }
    // Nothing narrower than what coordinates of this size can tell apart.
    double size = 0.0;
    for (const double coordinate : centre) size = std::max(size, std::abs(coordinate));
    const double part = few ? 1.0 : shown_part;
    const auto last = static_cast<std::size_t>(part * static_cast<double>(reach.size() - 1));
    std::nth_element(reach.begin(), reach.begin() + static_cast<std::ptrdiff_t>(last), reach.end());
    constexpr double room = 2.2; // both sides, and some space beyond
    const double wanted = std::max(room * reach[last], 1e-6 * size);
    return wanted >= 1e-90 ? round_up(wanted) : 1.0;
}

class Projection {
public:
    Projection(const PictureFrame& frame, const Plane& plane)
        : left_(frame.centre[plane.right] - frame.width / 2),
          bottom_(frame.centre[plane.up] - frame.width / 2), scale_(plot_size / frame.width), plane_(plane) {}

    // In pixels from the lower left corner of the plot.
    [[nodiscard]] PlacedBody place(const Bodies& bodies, std::size_t i) const {
        return {(bodies.position[3 * i + plane_.right] - left_) * scale_,
                (bodies.position[3 * i + plane_.up] - bottom_) * scale_, bodies.mass[i]};
    }
    [[nodiscard]] std::vector<double> density(const Bodies& bodies) const {
        std::vector<PlacedBody> placed;
        placed.reserve(bodies.mass.size());
        for (std::size_t i = 0; i < bodies.mass.size(); ++i) placed.push_back(place(bodies, i));
        auto map = density_map(placed, plot_size);
        for (auto& value : map) value *= scale_ * scale_;
        return map;
    }
    [[nodiscard]] Axis axis(std::size_t which, double width, const std::string& unit) const {
        const double low = which == plane_.right ? left_ : bottom_;
        const std::string name(1, "xyz"[which]);
        return {low, low + width, false, unit.empty() ? name : fmt::format("{} [{}]", name, unit)};
    }

private:
    double left_, bottom_, scale_;
    Plane plane_;
};

// From the density that nearly all of the covered area exceeds to the largest, at most `most_decades`.
void choose_range(const std::vector<double>& density, PictureFrame& frame) {
    std::vector<double> positive;
    for (const double value : density)
        if (value > 0.0) positive.push_back(value);
    frame.log_min = -1.0;
    frame.log_max = 0.0;
    if (positive.empty()) return;
    const auto low = positive.begin() + static_cast<std::ptrdiff_t>(positive.size() / 20);
    std::nth_element(positive.begin(), low, positive.end());
    const double lowest = *low;
    const double largest = *std::max_element(positive.begin(), positive.end());
    frame.log_max = log10_of(largest);
    frame.log_min = std::max(frame.log_max - most_decades, log10_of(lowest));
    frame.log_min = std::min(frame.log_min, frame.log_max - 1.0);
}

void draw_density(Canvas& canvas, const Rectangle& plot, const std::vector<double>& density,
                  const PictureFrame& frame) {
    for (int row = 0; row < plot_size; ++row)
        for (int column = 0; column < plot_size; ++column) {
            const double value =
                density[static_cast<std::size_t>(row) * plot_size + static_cast<std::size_t>(column)];
            const double t =
                value > 0.0 ? (log10_of(value) - frame.log_min) / (frame.log_max - frame.log_min) : 0.0;
            canvas.set(static_cast<int>(plot.left) + column, static_cast<int>(plot.bottom) - 1 - row,
                       density_colour(t));
        }
}

void draw_colour_bar(Canvas& canvas, const Rectangle& plot, const PictureFrame& frame,
                     const SnapshotInfo& info, const Theme& theme) {
    const Rectangle bar{plot.right + bar_gap, plot.top, plot.right + bar_gap + bar_width, plot.bottom};
    for (int y = static_cast<int>(bar.top); y < static_cast<int>(bar.bottom); ++y)
        for (int x = static_cast<int>(bar.left); x < static_cast<int>(bar.right); ++x)
            canvas.set(x, y, density_colour((bar.bottom - y - 0.5) / bar.height()));
    std::string label = "log_{10} surface density";
    if (!info.units.mass.name.empty() && !info.units.length.name.empty())
        label = fmt::format("{} [{} / {}^{{2}}]", label, info.units.mass.name, info.units.length.name);
    draw_right_axis(canvas, bar, {frame.log_min, frame.log_max, false, label}, theme, 6);
}

// So that light bodies are not hidden.
std::vector<std::size_t> heaviest_first(const Bodies& bodies) {
    std::vector<std::size_t> order(bodies.mass.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return bodies.mass[a] > bodies.mass[b]; });
    return order;
}

void draw_discs(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies) {
    constexpr Colour neutral{255, 213, 126};
    constexpr Colour positive{250, 145, 62};
    constexpr Colour negative{110, 170, 255};
    const double heaviest = *std::max_element(bodies.mass.begin(), bodies.mass.end());
    canvas.clip(plot);
    for (const auto i : heaviest_first(bodies)) {
        const auto placed = projection.place(bodies, i);
        const Point centre{plot.left + placed.x, plot.bottom - placed.y};
        // The fifth root lets a planet be seen beside its star.
        const double ratio = heaviest > 0.0 ? std::max(0.0, placed.mass / heaviest) : 1.0;
        const double radius = 3.5 + 6.0 * (ratio > 0.0 ? portable::pow(ratio, 0.2) : 0.0);
        Colour colour = neutral;
        if (!bodies.charge.empty()) colour = bodies.charge[i] < 0.0 ? negative : positive;
        constexpr int halos = 8;
        for (int halo = halos; halo > 0; --halo)
            canvas.disc(centre, radius * (1.0 + 0.2 * halo), colour, 0.045);
        canvas.disc(centre, radius, colour);
    }
    canvas.clip_off();
}

// Each body as a faint point; fainter where they crowd, so that the colours below keep their meaning.
void draw_stars(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies) {
    constexpr Colour star{255, 250, 240};
    constexpr double full_opacity = 0.45;
    constexpr double crowded = 0.008; // bodies a pixel
    std::vector<PlacedBody> placed;
    placed.reserve(bodies.mass.size());
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) placed.push_back(projection.place(bodies, i));
    for (auto& body : placed) body.mass = 1.0;
    const auto number = density_map(placed, plot_size);
    canvas.clip(plot);
    for (const auto& body : placed) {
        if (body.x < 0 || body.y < 0 || body.x >= plot_size || body.y >= plot_size) continue;
        const auto pixel = static_cast<std::size_t>(body.y) * plot_size + static_cast<std::size_t>(body.x);
        canvas.disc({plot.left + body.x, plot.bottom - body.y}, 1.0, star,
                    full_opacity * std::min(1.0, crowded / number[pixel]));
    }
    canvas.clip_off();
}

// The unit of time where that of velocity is one length per something: "au/day" gives "day".
std::string time_unit(const SnapshotInfo& info) {
    const std::string_view velocity = info.units.velocity.name;
    const auto length = info.units.length.name.size();
    if (length == 0 || !velocity.starts_with(info.units.length.name) ||
        !velocity.substr(length).starts_with('/'))
        return "";
    return fmt::format(" {}", velocity.substr(length + 1));
}

// Of few bodies, ", 1 outside" where one is not in the picture.
std::string outside_text(const Bodies& bodies, const Projection& projection) {
    if (bodies.size() >= few_bodies) return {};
    int outside = 0;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        const auto body = projection.place(bodies, i);
        const bool inside = body.x >= 0 && body.y >= 0 && body.x <= plot_size && body.y <= plot_size;
        outside += inside ? 0 : 1;
    }
    return outside == 0 ? "" : fmt::format(", {} outside", outside);
}

void draw_title(Canvas& canvas, const Rectangle& plot, const Bodies& bodies, const SnapshotInfo& info,
                const std::string& outside, const Theme& theme) {
    const double baseline = plot.top - 1.5 * theme.text;
    const auto right = fmt::format("t = {}{}    N = {}{}", number_text(info.time, 6), time_unit(info),
                                   number_text(static_cast<double>(bodies.size()), 9), outside);
    const double large = 1.3 * theme.text;
    draw_text(canvas, {plot.right, baseline}, right, {1.15 * theme.text, theme.ink, Align::right});
    const double room = plot.width() - text_width(right, 1.15 * theme.text) - 3 * theme.text;
    auto name = info.name;
    while (!name.empty() && text_width(name, large) > room) name.pop_back();
    draw_text(canvas, {plot.left, baseline}, name, {large, theme.ink, Align::left});
}

PictureFrame frame_without_range(const Bodies& bodies, const Plane& plane, double width) {
    PictureFrame frame;
    frame.centre = centre_of(bodies);
    frame.width = width > 0.0 ? width : width_for(bodies, plane, frame.centre);
    // A round centre makes the numbers of the axes symmetric for bodies that are centred but for noise.
    const double grid = frame.width / 20;
    for (auto& coordinate : frame.centre) coordinate = std::floor(coordinate / grid + 0.5) * grid;
    return frame;
}

// The numbers of the axes need a width well above the rounding of the coordinates.
void require_usable(const PictureFrame& frame) {
    constexpr double least_relative = 1e-9;
    double least = 1e-100;
    for (const double coordinate : frame.centre)
        least = std::max(least, least_relative * std::abs(coordinate));
    if (!(frame.width >= least) || !(frame.width <= 1e101))
        throw InvalidArgument(
            fmt::format("the width of a picture is {}; around ({}) it must be from {} to 1e101", frame.width,
                        fmt::join(frame.centre, ", "), least));
}

} // namespace

PictureFrame picture_frame(const Bodies& bodies, const std::string& plane_name, double width) {
    const auto plane = plane_of(plane_name);
    require_drawable(bodies);
    auto frame = frame_without_range(bodies, plane, width);
    require_usable(frame);
    if (bodies.size() >= few_bodies) choose_range(Projection(frame, plane).density(bodies), frame);
    return frame;
}

void plot_density(const std::filesystem::path& png, const Bodies& bodies, const SnapshotInfo& info,
                  const DensityPlotOptions& options) {
    const auto plane = plane_of(options.plane);
    require_drawable(bodies);
    auto frame = options.frame;
    if (!(frame.width > 0.0)) frame = frame_without_range(bodies, plane, 0.0);
    require_usable(frame);
    const bool few = bodies.size() < few_bodies;
    const Theme theme;
    const Projection projection(frame, plane);
    const Rectangle plot{left_margin, top_margin, left_margin + plot_size, top_margin + plot_size};
    Canvas canvas(static_cast<int>(plot.right + right_margin + (few ? 0.0 : bar_space)),
                  static_cast<int>(plot.bottom + bottom_margin), theme.paper);
    std::vector<double> density(static_cast<std::size_t>(plot_size) * plot_size, 0.0);
    if (!few) density = projection.density(bodies);
    if (!(frame.log_min < frame.log_max)) choose_range(density, frame);
    draw_density(canvas, plot, density, frame);
    if (few)
        draw_discs(canvas, plot, projection, bodies);
    else if (bodies.size() <= bodies_as_stars)
        draw_stars(canvas, plot, projection, bodies);
    constexpr Colour pale{225, 225, 230}; // ticks on the dark map
    draw_frame(canvas, plot, projection.axis(plane.right, frame.width, info.units.length.name),
               projection.axis(plane.up, frame.width, info.units.length.name), theme, {.ticks = pale});
    if (!few) draw_colour_bar(canvas, plot, frame, info, theme);
    draw_title(canvas, plot, bodies, info, outside_text(bodies, projection), theme);
    canvas.write_png(png);
}

} // namespace farfield
