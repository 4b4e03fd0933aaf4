// Initial models: one file each, with a descriptor that the command line and the documentation list.
#pragma once

#include <farfield/run.h>

#include <span>
#include <string_view>

namespace farfield {

struct InitialModel {
    InitialKind kind;
    std::string_view keys; ///< the keys of `[initial]` it reads, besides `kind`
    std::string_view doc;  ///< one line
    InitialState (*make)(const InitialOptions& options, int threads); ///< the same bits for any number
    bool vortices = false;                                            ///< bodies are vortices in the plane
};

/// All models, in the order of InitialKind.
std::span<const InitialModel> initial_models();
const InitialModel& initial_model(InitialKind kind);

/// As make_initial_state, with G = NaN where a file should tell it and does not.
InitialState state_with_any_G(const InitialOptions& options);

/// The same for a simulation of vortices, or of bodies. @throws InvalidArgument for a kind that makes the
/// other.
InitialState state_for(const InitialOptions& options, bool vortices, int threads);

/// kind = "file" of vortices: .csv with columns x, y and gamma, .npy N×3, or a snapshot.
InitialState vortices_from_file(const InitialOptions& options);

extern const InitialModel plummer_model;
extern const InitialModel uniform_sphere_model;
extern const InitialModel hernquist_model;
extern const InitialModel king_model;
extern const InitialModel two_clusters_model;
extern const InitialModel figure_eight_model;
extern const InitialModel solar_system_model;
extern const InitialModel plasma_model;
extern const InitialModel file_model;
extern const InitialModel vortex_pair_model;
extern const InitialModel leapfrogging_pairs_model;
extern const InitialModel vortex_sheet_model;
extern const InitialModel vortex_patch_model;

} // namespace farfield
