// Two clusters on a collision course: two samples of one model, the second scaled to `mass_ratio` times the
// mass of the first and to the same mean density (lengths and velocities by its cube root). G = 1 and the
// first cluster has mass 1. At the start the centres are `separation` apart in the x-y plane; the second
// comes along −x, its line of approach `impact_parameter` beside the first. All bodies have nearly one mass:
// n is shared by mass.
#include "dynamics/initial/common.h"
#include "dynamics/initial/model.h"
#include "math/portable/functions.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cmath>

namespace farfield {
namespace {

void check(const InitialOptions& o) {
    require_count(o, 2);
    const auto model = o.model;
    if (model != InitialKind::plummer && model != InitialKind::uniform_sphere &&
        model != InitialKind::hernquist && model != InitialKind::king)
        throw InvalidArgument(
            fmt::format("[initial] model = \"{}\" is not allowed for kind = \"two-clusters\": it "
                        "must be plummer, uniform-sphere, hernquist or king",
                        name_of(model)));
    require_initial(o.mass_ratio > 0.0 && o.mass_ratio <= 1.0, "mass_ratio", o.mass_ratio,
                    "above 0 and at most 1 (second over first cluster)");
    require_initial(o.separation > 0.0 && std::isfinite(o.separation), "separation", o.separation,
                    "a positive distance of the centres");
    require_initial(o.impact_parameter >= 0.0 && o.impact_parameter <= o.separation, "impact_parameter",
                    o.impact_parameter, "from 0 (head-on) to the separation");
    require_initial(o.relative_speed >= 0.0 && std::isfinite(o.relative_speed), "relative_speed",
                    o.relative_speed, "positive, or 0 for a parabolic orbit");
}

Bodies sample(const InitialOptions& options, std::int64_t n, bool second, int threads) {
    InitialOptions one = options;
    one.kind = options.model;
    one.n = n;
    // Streams are told apart by the top bit of the seed: no second cluster repeats a first one.
    if (second) one.seed ^= std::uint64_t{1} << 63;
    return initial_model(one.kind).make(one, threads).bodies;
}

void append(Bodies& all, const Bodies& cluster, double mass, double scale,
            const std::array<double, 3>& position, const std::array<double, 3>& velocity) {
    for (std::size_t i = 0; i < cluster.mass.size(); ++i) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            all.position.push_back(cluster.position[3 * i + axis] * scale + position[axis]);
            all.velocity.push_back(cluster.velocity[3 * i + axis] * scale + velocity[axis]);
        }
        all.mass.push_back(cluster.mass[i] * mass);
        all.id.push_back(all.id.size() + 1);
        if (!cluster.charge.empty()) all.charge.push_back(cluster.charge[i] * mass);
    }
}

InitialState make_two_clusters(const InitialOptions& o, int threads) {
    check(o);
    const double total = 1.0 + o.mass_ratio;
    std::int64_t n2 = std::llround(static_cast<double>(o.n) * (o.mass_ratio / total));
    if (n2 < 1) n2 = 1;
    const double speed = o.relative_speed > 0.0 ? o.relative_speed : std::sqrt(2.0 * total / o.separation);
    const double along = std::sqrt((o.separation - o.impact_parameter) * (o.separation + o.impact_parameter));
    const std::array<double, 3> offset{along, o.impact_parameter, 0.0};
    const std::array<double, 3> approach{-speed, 0.0, 0.0};
    const double scale = portable::cbrt(o.mass_ratio);
    Bodies bodies;
    append(bodies, sample(o, o.n - n2, false, threads), 1.0, 1.0, scaled(offset, -o.mass_ratio / total),
           scaled(approach, -o.mass_ratio / total));
    append(bodies, sample(o, n2, true, threads), o.mass_ratio, scale, scaled(offset, 1.0 / total),
           scaled(approach, 1.0 / total));
    return {std::move(bodies)};
}

} // namespace

const InitialModel two_clusters_model{
    InitialKind::two_clusters,
    "n, seed, model and its keys, mass_ratio, separation, impact_parameter, relative_speed",
    "Two clusters of one model on a collision orbit; G = 1, the first has mass 1", make_two_clusters};

} // namespace farfield
