#include "io/picture/trails.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace farfield::picture {
namespace {

constexpr std::size_t most_moments = 4096;
constexpr std::size_t most_places = 32768; // of all bodies: a checkpoint holds them

double dot(const PathPoint& a, const PathPoint& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const PathPoint& a) { return std::sqrt(dot(a, a)); }

struct State {
    PathPoint position, velocity;
};

// A cubic Bézier curve between two states. Its handles lie along the velocities and are as long as those of
// the curve that reproduces an arc of a circle of this angle: (4/3) tan(θ/4) r.
class Link {
public:
    Link(const State& from, const State& to, double time) : from_(from.position), to_(to.position) {
        const double speed = length(from.velocity) / 2 + length(to.velocity) / 2;
        const PathPoint chord{to_[0] - from_[0], to_[1] - from_[1], to_[2] - from_[2]};
        const double way = speed * time;
        const double straight = length(chord);
        const double speeds = length(from.velocity) * length(to.velocity);
        const double cosine =
            speeds > 0.0 ? std::clamp(dot(from.velocity, to.velocity) / speeds, -1.0, 1.0) : 1.0;
        constexpr double most_way = 1.7;       // 1.36 for 150 degrees of a circle
        constexpr double least_way = 0.4;      // slow at both ends: past another body in between
        constexpr double least_cosine = -0.87; // of 150 degrees
        known_ = std::isfinite(way) && way <= most_way * straight && way >= least_way * straight &&
                 cosine >= least_cosine;
        const double half = std::sqrt((1.0 + cosine) / 2);       // cos θ/2
        const double t = std::sqrt((1.0 - half) / (1.0 + half)); // tan θ/4
        const double t2 = t * t;
        // tan(θ/4) / (θ/4), by the series of the arc tangent
        const double longer = 1.0 / (1.0 - t2 * (1.0 / 3 - t2 * (1.0 / 5 - t2 * (1.0 / 7 - t2 / 9))));
        for (std::size_t k = 0; k < 3; ++k) {
            first_handle_[k] = from_[k] + from.velocity[k] * time * longer / 3;
            second_handle_[k] = to_[k] - to.velocity[k] * time * longer / 3;
        }
        constexpr double pieces_a_turn = 60.0;
        pieces_ = 1 + static_cast<int>(pieces_a_turn * t);
    }
    [[nodiscard]] bool known() const { return known_; }
    // All points but the first.
    void append_to(std::vector<PathPoint>& line) const {
        for (int piece = 1; piece <= pieces_; ++piece) {
            const double s = static_cast<double>(piece) / pieces_;
            const double r = 1.0 - s;
            PathPoint point{};
            for (std::size_t k = 0; k < 3; ++k)
                point[k] = r * r * r * from_[k] + 3 * r * r * s * first_handle_[k] +
                           3 * r * s * s * second_handle_[k] + s * s * s * to_[k];
            line.push_back(point);
        }
    }

private:
    PathPoint from_, to_, first_handle_{}, second_handle_{};
    int pieces_ = 1;
    bool known_ = false;
};

// Rows of bodies by growing ids.
std::vector<std::size_t> rows_by_id(const std::vector<std::uint64_t>& ids) {
    std::vector<std::size_t> rows(ids.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::sort(rows.begin(), rows.end(), [&](auto a, auto b) { return ids[a] < ids[b]; });
    return rows;
}

} // namespace

std::vector<std::uint64_t> ids_of(const Bodies& bodies) {
    auto ids = bodies.id;
    if (ids.empty()) {
        ids.resize(bodies.mass.size());
        std::iota(ids.begin(), ids.end(), std::uint64_t{1});
    }
    return ids;
}

Trails::Trails(TrailMoments moments) {
    const auto values = 3 * moments.ids.size() * moments.times.size();
    if (moments.positions.size() == values && moments.velocities.size() == values)
        moments_ = std::move(moments);
}

void Trails::add(double time, const Bodies& bodies) {
    const auto ids = ids_of(bodies);
    const auto rows = rows_by_id(ids);
    std::vector<std::uint64_t> sorted;
    sorted.reserve(rows.size());
    for (const auto row : rows) sorted.push_back(ids[row]);
    auto& times = moments_.times;
    if (times.empty()) moments_.ids = sorted;
    if (sorted != moments_.ids)
        throw InvalidArgument(fmt::format(
            "the bodies at t = {} are not those of the other moments: their number or ids differ", time));
    const auto place = std::lower_bound(times.begin(), times.end(), time);
    if (place != times.end() && *place == time) return;
    const auto at = static_cast<std::ptrdiff_t>(width()) * (place - times.begin());
    std::vector<double> position;
    std::vector<double> velocity;
    for (const auto row : rows)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            position.push_back(bodies.position[3 * row + axis]);
            velocity.push_back(bodies.velocity[3 * row + axis]);
        }
    times.insert(place, time);
    moments_.positions.insert(moments_.positions.begin() + at, position.begin(), position.end());
    moments_.velocities.insert(moments_.velocities.begin() + at, velocity.begin(), velocity.end());
    if (times.size() > most_moments || times.size() * moments_.ids.size() > most_places) thin();
}

// Keeps the first, the third and so on.
void Trails::thin() {
    const auto thinned = [](std::vector<double>& values, std::size_t width) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i * width < values.size(); i += 2, ++kept)
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                        values.begin() + static_cast<std::ptrdiff_t>(kept * width));
        values.resize(kept * width);
    };
    thinned(moments_.times, 1);
    thinned(moments_.positions, width());
    thinned(moments_.velocities, width());
}

Trail Trails::of(std::uint64_t id, double until) const {
    Trail trail;
    const auto& ids = moments_.ids;
    const auto found = std::lower_bound(ids.begin(), ids.end(), id);
    if (found == ids.end() || *found != id) return trail;
    const auto offset = 3 * static_cast<std::size_t>(found - ids.begin());
    const auto state = [&](std::size_t moment) {
        State out{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            out.position[axis] = moments_.positions[moment * width() + offset + axis];
            out.velocity[axis] = moments_.velocities[moment * width() + offset + axis];
        }
        return out;
    };
    const auto& times = moments_.times;
    bool open = false;
    for (std::size_t i = 0; i + 1 < times.size() && times[i + 1] <= until; ++i) {
        const auto from = state(i);
        const auto to = state(i + 1);
        if (from.position == to.position) continue; // at rest
        const Link link(from, to, times[i + 1] - times[i]);
        if (!link.known()) {
            ++trail.gaps;
            open = false;
            continue;
        }
        if (!open) trail.lines.push_back({from.position});
        open = true;
        link.append_to(trail.lines.back());
    }
    return trail;
}

} // namespace farfield::picture
