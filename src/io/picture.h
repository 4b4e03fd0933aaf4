// Pictures (PNG): the projected density of bodies, and the diagnostics of a run against time.
#pragma once

#include "io/csv.h"
#include "io/snapshot.h"

#include <array>
#include <filesystem>
#include <string>

namespace farfield {

/// What part of space a picture shows, and for which densities its colours are. Pictures of one run that
/// share a frame can be shown as a film.
struct PictureFrame {
    std::array<double, 3> centre{};
    double width = 0.0;   ///< of the square shown, in the bodies' unit of length
    double log_min = 0.0; ///< log10 of the surface density of the first and of the last colour; the first is
    double log_max = 0.0; ///< below the last, or both are 0 for a range chosen from the bodies
};

struct DensityPlotOptions {
    std::string plane = "xy"; ///< xy, xz or yz: the axes to the right and up
    PictureFrame frame;       ///< width 0: chosen from the bodies, centre and range too
};

/// The frame for a first picture: centred on the bodies, wide enough for nearly all of their mass, its width
/// a round number; `width` > 0 overrides the width. @throws InvalidArgument for no bodies or values that are
/// not finite.
PictureFrame picture_frame(const Bodies& bodies, const std::string& plane, double width = 0.0);

/// Draws log10 of the surface density (mass per area) seen along the axis that is not in `plane`, smoothed
/// with a kernel that adapts to the local number of bodies; fewer than 200 bodies are drawn as discs instead,
/// their area growing with mass. The same input gives the same bytes on every machine with the same zlib.
/// @throws InvalidArgument for an unknown plane, no bodies or values that are not finite; IoError.
void plot_density(const std::filesystem::path& png, const Bodies& bodies, const SnapshotInfo& info,
                  const DensityPlotOptions& options = {});

/// Draws |relative energy error| (logarithmic) and the Lagrangian radii that hold 10, 50 and 90 % of the mass
/// against time, from the table in a run's diagnostics.csv (columns time, relative_energy_error, r10, r50,
/// r90).
/// @throws InvalidArgument where a column is missing or fewer than two rows are there; IoError.
void plot_diagnostics(const std::filesystem::path& png, const Table& diagnostics);

} // namespace farfield
