#include "io/picture/bodies_marks.h"

#include "io/picture/text.h"
#include "math/portable/functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

namespace farfield::picture {
namespace {

// So that light bodies are not hidden.
std::vector<std::size_t> heaviest_first(const Bodies& bodies) {
    std::vector<std::size_t> order(bodies.mass.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return bodies.mass[a] > bodies.mass[b]; });
    return order;
}

Point on_canvas(const Rectangle& plot, Point placed) {
    return {plot.left + placed.x, plot.bottom - placed.y};
}

Point centre_of_disc(const Rectangle& plot, const Projection& projection, const Bodies& bodies,
                     std::size_t i) {
    return on_canvas(plot, projection.place(bodies.position.data() + 3 * i));
}

// The fifth root lets a planet be seen beside its star.
double disc_radius(const Bodies& bodies, std::size_t i, double heaviest) {
    const double ratio = heaviest > 0.0 ? std::max(0.0, bodies.mass[i] / heaviest) : 1.0;
    return 3.5 + 6.0 * (ratio > 0.0 ? portable::pow(ratio, 0.2) : 0.0);
}

double heaviest_of(const Bodies& bodies) { return *std::max_element(bodies.mass.begin(), bodies.mass.end()); }

// Of a body whose path is drawn; all equally light.
Colour trail_colour(std::size_t row) {
    constexpr std::array<Colour, 6> colours{{{255, 205, 110},
                                             {120, 190, 255},
                                             {255, 145, 125},
                                             {130, 225, 150},
                                             {215, 165, 255},
                                             {120, 225, 228}}};
    return colours[row % colours.size()];
}

bool overlap(const Rectangle& a, const Rectangle& b) {
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// The sign of a component of a direction, 0 for none.
double along(double component) { return component > 0.5 ? 1.0 : component < -0.5 ? -1.0 : 0.0; }

// Where a name stands, and how far from its body.
struct NamePlace {
    Rectangle box;
    double distance;
};

// The first place around a body that no disc and no other name takes, nearer ones first.
std::optional<NamePlace> free_place(Point body, double radius, double width, double text,
                                    const Rectangle& plot, const std::vector<Rectangle>& taken) {
    constexpr double diagonal = 0.7071067811865476;
    constexpr std::array<Point, 8> directions{{{diagonal, -diagonal},
                                               {1, 0},
                                               {diagonal, diagonal},
                                               {0, -1},
                                               {0, 1},
                                               {-diagonal, -diagonal},
                                               {-1, 0},
                                               {-diagonal, diagonal}}};
    for (const double distance : {radius + 5.0, radius + 28.0, radius + 55.0, radius + 85.0})
        for (const auto& direction : directions) {
            // The nearest side or corner of the text lies at this distance; above and below it is centred.
            const double x = body.x + direction.x * distance - width * (1 - along(direction.x)) / 2;
            const double y = body.y + direction.y * distance - text * (1 - along(direction.y)) / 2;
            const Rectangle box{x, y, x + width, y + text};
            const Rectangle whole{box.left - 3, box.top - 3, box.right + 3, box.bottom + 3};
            const bool inside = whole.left >= plot.left && whole.right <= plot.right &&
                                whole.top >= plot.top && whole.bottom <= plot.bottom;
            if (!inside || std::any_of(taken.begin(), taken.end(),
                                       [&](const auto& other) { return overlap(whole, other); }))
                continue;
            return NamePlace{whole, distance};
        }
    return std::nullopt;
}

} // namespace

void draw_discs(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies,
                bool with_trails) {
    constexpr Colour neutral{255, 213, 126};
    constexpr Colour positive{250, 145, 62};
    constexpr Colour negative{110, 170, 255};
    const double heaviest = heaviest_of(bodies);
    canvas.clip(plot);
    for (const auto i : heaviest_first(bodies)) {
        const auto centre = centre_of_disc(plot, projection, bodies, i);
        const double radius = disc_radius(bodies, i, heaviest);
        Colour colour = with_trails ? trail_colour(i) : neutral;
        if (!bodies.charge.empty()) colour = bodies.charge[i] < 0.0 ? negative : positive;
        constexpr int halos = 8;
        for (int halo = halos; halo > 0; --halo)
            canvas.disc(centre, radius * (1.0 + 0.2 * halo), colour, 0.045);
        canvas.disc(centre, radius, colour);
    }
    canvas.clip_off();
}

void draw_trails(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies,
                 const Trails& trails, double time) {
    constexpr double width = 1.8;
    constexpr double opacity = 0.6;
    const auto ids = ids_of(bodies);
    canvas.clip(plot);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        std::vector<Polyline> lines;
        for (const auto& line : trails.of(ids[i], time).lines) {
            lines.emplace_back();
            for (const auto& point : line) {
                const auto at = on_canvas(plot, projection.place(point.data()));
                // Half a pixel tells no more.
                auto& points = lines.back();
                if (points.empty() ||
                    std::abs(at.x - points.back().x) + std::abs(at.y - points.back().y) > 0.5)
                    points.push_back(at);
            }
        }
        canvas.stroke(lines, width, trail_colour(i), opacity);
    }
    canvas.clip_off();
}

void draw_names(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies,
                std::span<const std::string> names, double text) {
    constexpr Colour pale{225, 225, 230};
    constexpr Colour dim{150, 150, 160};
    const double heaviest = heaviest_of(bodies);
    std::vector<Rectangle> taken;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) {
        const auto at = centre_of_disc(plot, projection, bodies, i);
        const double radius = disc_radius(bodies, i, heaviest);
        taken.push_back({at.x - radius, at.y - radius, at.x + radius, at.y + radius});
    }
    canvas.clip(plot);
    for (const auto i : heaviest_first(bodies)) {
        if (!projection.shows(bodies, i) || names[i].empty()) continue;
        const auto body = centre_of_disc(plot, projection, bodies, i);
        const double radius = disc_radius(bodies, i, heaviest);
        const auto place = free_place(body, radius, text_width(names[i], text), text, plot, taken);
        if (!place) continue;
        taken.push_back(place->box);
        if (place->distance > radius + 20.0) {
            const Polyline line{body,
                                {std::clamp(body.x, place->box.left, place->box.right),
                                 std::clamp(body.y, place->box.top, place->box.bottom)}};
            canvas.stroke(std::span(&line, 1), 1.0, dim);
        }
        draw_text(canvas, {place->box.left + 3, place->box.bottom - 3}, names[i], {text, pale, Align::left});
    }
    canvas.clip_off();
}

void draw_stars(Canvas& canvas, const Rectangle& plot, const Projection& projection, const Bodies& bodies,
                int size, bool by_charge, int threads) {
    constexpr Colour star{255, 250, 240};
    constexpr Colour positive{150, 20, 20};
    constexpr Colour negative{20, 50, 140};
    constexpr double full_opacity = 0.45;
    constexpr double crowded = 0.008; // bodies a pixel
    std::vector<PlacedBody> placed;
    placed.reserve(bodies.mass.size());
    for (std::size_t i = 0; i < bodies.mass.size(); ++i) placed.push_back(projection.place(bodies, i));
    for (auto& body : placed) body.mass = 1.0;
    const auto number = density_map(placed, size, threads);
    canvas.clip(plot);
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const auto& body = placed[i];
        if (body.x < 0 || body.y < 0 || body.x >= size || body.y >= size) continue;
        const auto pixel = static_cast<std::size_t>(body.y) * static_cast<std::size_t>(size) +
                           static_cast<std::size_t>(body.x);
        const auto colour = !by_charge ? star : bodies.charge[i] < 0.0 ? negative : positive;
        canvas.disc({plot.left + body.x, plot.bottom - body.y}, 1.0, colour,
                    full_opacity * std::min(1.0, crowded / number[pixel]));
    }
    canvas.clip_off();
}

} // namespace farfield::picture
