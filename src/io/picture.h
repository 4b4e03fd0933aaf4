// Pictures (PNG): bodies with their density, trails and names, and the diagnostics of a run against time.
#pragma once

#include "io/csv.h"
#include "io/snapshot.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace farfield {

namespace picture {
class Canvas;
class Trails;
} // namespace picture

/// What part of space a picture shows, and for which densities its colours are. Pictures of one run that
/// share a frame can be shown as a film.
struct PictureFrame {
    std::array<double, 3> centre{};
    double width = 0.0; ///< of the square shown, in the bodies' unit of length
    // Of the first and of the last colour, the first below the last; both 0: chosen from the bodies.
    double low = 0.0;  ///< log10 of the mass per area, or the charge per area
    double high = 0.0; ///< as low
};

/// What the colours of a picture of many bodies tell.
enum class ShownDensity : std::uint8_t {
    mass,  ///< log10 of the mass per area
    charge ///< the charge per area, from −high to high
};

struct DensityPlotOptions {
    std::string plane = "xy"; ///< xy, xz or yz: the axes to the right and up
    PictureFrame frame{};     ///< width 0: chosen from the bodies, centre and range too
    /// Empty: charge where there are charges of both signs. Few bodies are discs in either case.
    std::optional<ShownDensity> show{};
    const picture::Trails* trails = nullptr; ///< of few bodies; drawn up to the time of the picture
    int size = 900;                          ///< pixels of the square
    int threads = 0;                         ///< 0: all; the bytes are the same for any number
};

/// The frame for a first picture: centred on the bodies, wide enough for nearly all of their mass, its width
/// a round number; `width` > 0 overrides the width. @throws InvalidArgument for no bodies or values that are
/// not finite. Along the axes on which bodies are in a periodic box (SnapshotInfo::box) the frame is the box.
PictureFrame picture_frame(const Bodies& bodies, const std::string& plane, double width = 0.0,
                           std::optional<ShownDensity> show = {}, const std::array<double, 3>& box = {},
                           int threads = 0);

/// A frame that holds what both show.
PictureFrame joined(const PictureFrame& a, const PictureFrame& b);

/// Draws the surface density (mass or charge per area) seen along the axis that is not in `plane`, smoothed
/// with a kernel that adapts to the local number of bodies; fewer than 200 bodies are drawn as discs instead,
/// their area growing with mass, with their names where `info` has them. The same input gives the same bytes
/// on every machine with the same zlib.
/// @throws InvalidArgument for an unknown plane, no bodies, values that are not finite, or charges shown of
/// bodies that have none.
picture::Canvas draw_bodies(const Bodies& bodies, const SnapshotInfo& info,
                            const DensityPlotOptions& options = {});

/// The same into a file. @throws also IoError.
void plot_density(const std::filesystem::path& png, const Bodies& bodies, const SnapshotInfo& info,
                  const DensityPlotOptions& options = {});

/// Draws |relative energy error| (logarithmic) and the Lagrangian radii that hold 10, 50 and 90 % of the mass
/// against time, from the table in a run's diagnostics.csv (columns time, relative_energy_error, r10, r50,
/// r90); of periodic boxes, which have no radii, kinetic and potential energy; of vortices |Hamiltonian's
/// error| and the impulses. `units` name those of the axes.
/// @throws InvalidArgument where a column is missing or fewer than two rows are there; IoError.
void plot_diagnostics(const std::filesystem::path& png, const Table& diagnostics, const Units& units = {});

/// "day" where the velocity is "au/day" and the length "au": empty where the unit of time has no such name.
std::string time_unit_name(const Units& units);

} // namespace farfield
