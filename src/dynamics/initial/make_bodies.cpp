// The table of initial models.
#include "backend/threads/parallel.h"
#include "dynamics/initial/model.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace farfield {

std::span<const InitialModel> initial_models() {
    static const std::array models{
        plummer_model,      uniform_sphere_model, hernquist_model,          king_model,
        two_clusters_model, figure_eight_model,   solar_system_model,       plasma_model,
        file_model,         vortex_pair_model,    leapfrogging_pairs_model, vortex_sheet_model,
        vortex_patch_model};
    return models;
}

const InitialModel& initial_model(InitialKind kind) {
    for (const auto& model : initial_models())
        if (model.kind == kind) return model;
    throw InternalError("an initial model without a descriptor");
}

InitialState state_with_any_G(const InitialOptions& options) {
    return initial_model(options.kind).make(options, thread_count(0));
}

InitialState make_initial_state(const InitialOptions& options) {
    auto state = state_with_any_G(options);
    if (std::isnan(state.G))
        throw InvalidArgument(fmt::format(
            "{}: the gravitational constant is not known: {}; give G ([force] G), or the units of the file "
            "([initial] length_unit, mass_unit, velocity_unit)",
            options.path.string(), state.G_origin));
    return state;
}

Bodies make_bodies(const InitialOptions& options) { return state_with_any_G(options).bodies; }

double natural_G(const InitialOptions& options) {
    // Only these models are in other units; the others are not made, which could take long.
    if (options.kind == InitialKind::solar_system || options.kind == InitialKind::file)
        return make_initial_state(options).G;
    return 1.0;
}

} // namespace farfield
