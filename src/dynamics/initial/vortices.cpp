// Vortices in the plane z = 0: pairs that turn or travel, pairs that leapfrog, a sheet that rolls up, and a
// Gaussian patch (Lamb and Oseen's vortex, where cores spread). A body's charge is its circulation, and its
// mass the magnitude of that, for pictures.
#include "dynamics/initial/common.h"
#include "dynamics/initial/model.h"
#include "math/portable/functions.h"

#include <cmath>
#include <numeric>

namespace farfield {
namespace {

constexpr double pi_of_initial = 3.14159265358979323846;

struct VortexList {
    Bodies bodies;

    void add(double x, double y, double circulation) {
        bodies.position.insert(bodies.position.end(), {x, y, 0.0});
        bodies.velocity.insert(bodies.velocity.end(), 3, 0.0);
        bodies.charge.push_back(circulation);
        bodies.mass.push_back(std::abs(circulation));
        bodies.id.push_back(bodies.id.size() + 1);
    }
};

void require_circulation(const InitialOptions& options) {
    require_initial(std::isfinite(options.circulation) && options.circulation != 0.0, "circulation",
                    options.circulation, "a finite number and not 0");
}

void require_length(std::string_view key, double value) {
    require_initial(std::isfinite(value) && value > 0.0, key, value, "> 0");
}

InitialState make_vortex_pair(const InitialOptions& options, int /*threads*/) {
    require_circulation(options);
    require_length("distance", options.distance);
    require_initial(std::isfinite(options.circulation_ratio), "circulation_ratio", options.circulation_ratio,
                    "a finite number");
    VortexList out;
    out.add(-0.5 * options.distance, 0.0, options.circulation);
    out.add(0.5 * options.distance, 0.0, options.circulation_ratio * options.circulation);
    return {.bodies = std::move(out.bodies)};
}

// The section of two vortex rings in line: both pairs begin at x = 0 and travel along +x where Γ > 0.
InitialState make_leapfrogging_pairs(const InitialOptions& options, int /*threads*/) {
    require_circulation(options);
    require_length("distance", options.distance);
    require_initial(options.width_ratio > 0.0 && options.width_ratio < 1.0, "width_ratio",
                    options.width_ratio, "> 0 and < 1");
    VortexList out;
    for (const double width : {options.distance, options.width_ratio * options.distance}) {
        out.add(0.0, 0.5 * width, options.circulation);
        out.add(0.0, -0.5 * width, -options.circulation);
    }
    return {.bodies = std::move(out.bodies), .body_names = {"1+", "1-", "2+", "2-"}};
}

InitialState make_vortex_sheet(const InitialOptions& options, int /*threads*/) {
    require_count(options, 2);
    require_circulation(options);
    require_length("length", options.length);
    const auto n = static_cast<double>(options.n);
    VortexList out;
    for (std::int64_t i = 0; i < options.n; ++i) {
        const double along = (static_cast<double>(i) + 0.5) / n; // of the length
        const double angle = 2.0 * pi_of_initial * static_cast<double>(options.waves) * along;
        out.add((along - 0.5) * options.length, options.amplitude * portable::sin(angle),
                options.circulation / n);
    }
    return {.bodies = std::move(out.bodies)};
}

// A square grid to five radii, where a Gaussian has fallen to 4e-6. Sums over such a grid miss the integral
// by exp(−2π²r²/h²), nothing for cells h below half a radius r.
InitialState make_vortex_patch(const InitialOptions& options, int /*threads*/) {
    require_count(options, 4);
    require_circulation(options);
    require_length("radius", options.radius);
    const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(options.n))));
    require_initial(side * side == options.n, "n", static_cast<double>(options.n),
                    "a square number, such as 900: the vortices stand on a square grid");
    const double cell = 10.0 / static_cast<double>(side); // in radii
    VortexList out;
    for (std::int64_t row = 0; row < side; ++row)
        for (std::int64_t column = 0; column < side; ++column) {
            const double x = (static_cast<double>(column) + 0.5) * cell - 5.0;
            const double y = (static_cast<double>(row) + 0.5) * cell - 5.0;
            out.add(options.radius * x, options.radius * y, portable::exp(-0.5 * (x * x + y * y)));
        }
    const double all = std::accumulate(out.bodies.charge.begin(), out.bodies.charge.end(), 0.0);
    for (std::size_t i = 0; i < out.bodies.charge.size(); ++i) {
        out.bodies.charge[i] *= options.circulation / all;
        out.bodies.mass[i] = std::abs(out.bodies.charge[i]);
    }
    return {.bodies = std::move(out.bodies)};
}

} // namespace

const InitialModel vortex_pair_model{
    InitialKind::vortex_pair, "circulation, circulation_ratio, distance",
    "Two vortices: of one sign they turn about each other, opposite ones travel", make_vortex_pair, true};

const InitialModel leapfrogging_pairs_model{
    InitialKind::leapfrogging_pairs, "circulation, distance, width_ratio",
    "Two pairs of opposite vortices in line, which pass through each other by turns", make_leapfrogging_pairs,
    true};

const InitialModel vortex_sheet_model{InitialKind::vortex_sheet, "n, circulation, length, amplitude, waves",
                                      "A line of vortices, displaced by a sine, which rolls up",
                                      make_vortex_sheet, true};

const InitialModel vortex_patch_model{InitialKind::vortex_patch, "n, circulation, radius",
                                      "A Gaussian patch of vortices on a grid: a Lamb-Oseen vortex",
                                      make_vortex_patch, true};

} // namespace farfield
