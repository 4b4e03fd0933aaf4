#include "io/picture/bodies_view.h"

#include "base/text.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield::picture {
namespace {

constexpr double shown_part = 0.95; // of many bodies; all of few

// The centre of mass of few bodies, so that a star stays in the middle; of many, the middle of where nearly
// all are, so that two unequal clusters both fit.
std::array<double, 3> centre_of(const Bodies& bodies) {
    const auto n = bodies.mass.size();
    std::array<double, 3> centre{};
    if (!are_few(bodies)) {
        std::vector<double> line(n);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            for (std::size_t i = 0; i < n; ++i) line[i] = bodies.position[3 * i + axis];
            const auto outside = static_cast<std::size_t>((1.0 - shown_part) / 2 * static_cast<double>(n));
            const auto number = [&](std::size_t place) {
                const auto at = line.begin() + static_cast<std::ptrdiff_t>(place);
                std::nth_element(line.begin(), at, line.end());
                return *at;
            };
            centre[axis] = number(outside) / 2 + number(n - 1 - outside) / 2;
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
double width_for(const Bodies& bodies, const ViewPlane& plane, const std::array<double, 3>& centre) {
    std::vector<double> reach;
    reach.reserve(bodies.mass.size());
    const bool few = are_few(bodies);
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

} // namespace

ViewPlane view_plane(const std::string& name) {
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

PictureFrame frame_without_range(const Bodies& bodies, const ViewPlane& plane, double width,
                                 const std::array<double, 3>& box) {
    PictureFrame frame;
    frame.centre = centre_of(bodies);
    const double longest = std::max(box[plane.right], box[plane.up]);
    const bool whole = box[plane.right] > 0.0 && box[plane.up] > 0.0;
    frame.width = width > 0.0 ? width
                  : whole     ? longest
                              : std::max(longest, width_for(bodies, plane, frame.centre));
    // A round centre makes the numbers of the axes symmetric for bodies that are centred but for noise.
    const double grid = frame.width / 20;
    for (std::size_t axis = 0; axis < 3; ++axis)
        frame.centre[axis] =
            box[axis] > 0.0 ? box[axis] / 2 : std::floor(frame.centre[axis] / grid + 0.5) * grid;
    return frame;
}

Bodies with_images(const Bodies& bodies, const ViewPlane& plane, const std::array<double, 3>& box) {
    constexpr double margin = 0.125; // of the box, beyond its borders
    const double width = box[plane.right], height = box[plane.up];
    if (!(width > 0.0) || !(height > 0.0)) return bodies;
    auto out = bodies;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i)
        for (const double right : {0.0, -width, width})
            for (const double up : {0.0, -height, height}) {
                if (right == 0.0 && up == 0.0) continue;
                auto place = std::array{bodies.position[3 * i], bodies.position[3 * i + 1],
                                        bodies.position[3 * i + 2]};
                place[plane.right] += right;
                place[plane.up] += up;
                const auto near = [](double x, double length) {
                    return x >= -margin * length && x <= (1.0 + margin) * length;
                };
                if (!near(place[plane.right], width) || !near(place[plane.up], height)) continue;
                out.position.insert(out.position.end(), place.begin(), place.end());
                out.mass.push_back(bodies.mass[i]);
                if (!bodies.charge.empty()) out.charge.push_back(bodies.charge[i]);
            }
    return out;
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
                        joined(frame.centre, ", "), least));
}

std::vector<double> Projection::surface_density(const Bodies& bodies, const std::vector<double>& weights,
                                                int threads) const {
    std::vector<PlacedBody> placed;
    placed.reserve(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
        placed.push_back(place(bodies, i));
        placed.back().mass = weights[i];
    }
    auto map = density_map(placed, size_, threads);
    for (auto& value : map) value *= scale_ * scale_;
    return map;
}

Axis Projection::axis(std::size_t which, double width, const std::string& unit) const {
    const double low = which == plane_.right ? left_ : bottom_;
    const std::string name(1, "xyz"[which]);
    return {low, low + width, false, unit.empty() ? name : fmt::format("{} [{}]", name, unit)};
}

} // namespace farfield::picture
