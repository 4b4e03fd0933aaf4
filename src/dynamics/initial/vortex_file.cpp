// Vortices from a file: x, y and gamma, or a snapshot of an earlier run, whose charges are circulations.
#include "dynamics/initial/model.h"
#include "io/bodies_file.h"
#include "io/csv.h"
#include "io/points_file.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cmath>

namespace farfield {
namespace {

void require_no_z(const std::filesystem::path& path) {
    if (path.extension() == ".csv" && read_csv(path).find("z") != nullptr)
        throw InvalidArgument(
            fmt::format("{}: there is a column z; vortices move in a plane: columns x, y and "
                        "gamma are needed",
                        path.string()));
}

} // namespace

InitialState vortices_from_file(const InitialOptions& options) {
    const auto& path = options.path;
    if (path.empty())
        throw InvalidArgument(
            "[initial] path is missing for kind = \"file\": set it to a .csv, .npy or .h5 file "
            "of vortices");
    if (path.extension() == ".h5" || path.extension() == ".hdf5") {
        auto snapshot = read_bodies(path);
        return {.bodies = std::move(snapshot.bodies),
                .time = snapshot.info.time,
                .body_names = std::move(snapshot.info.body_names)};
    }
    require_no_z(path);
    const auto sources = read_sources(path, {.least_dimension = 2, .most_dimension = 2, .strength = "gamma"});
    InitialState state;
    auto& bodies = state.bodies;
    for (std::size_t i = 0; i < sources.strengths.size(); ++i) {
        bodies.position.insert(bodies.position.end(),
                               {sources.points[2 * i], sources.points[2 * i + 1], 0.0});
        bodies.charge.push_back(sources.strengths[i]);
        bodies.mass.push_back(std::abs(sources.strengths[i]));
        bodies.id.push_back(i + 1);
    }
    bodies.velocity.assign(bodies.position.size(), 0.0);
    return state;
}

InitialState state_for(const InitialOptions& options, bool vortices, int threads) {
    const auto& model = initial_model(options.kind);
    if (options.kind == InitialKind::file)
        return vortices ? vortices_from_file(options) : model.make(options, threads);
    if (model.vortices != vortices)
        throw InvalidArgument(
            vortices
                ? fmt::format("initial.kind = \"{}\" makes bodies in space, not vortices: use another kind, "
                              "such as \"vortex-pair\", or another force.kernel than \"vortex2d\"",
                              name_of(options.kind))
                : fmt::format("initial.kind = \"{}\" makes vortices: use force.kernel = \"vortex2d\"",
                              name_of(options.kind)));
    return model.make(options, threads);
}

} // namespace farfield
