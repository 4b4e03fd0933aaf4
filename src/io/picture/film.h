// Pictures of several snapshots of the same bodies: one with trails, or all as an animated PNG.
#pragma once

#include "io/picture.h"
#include "io/picture/trails.h"

#include <filesystem>
#include <span>
#include <vector>

namespace farfield {

/// The snapshots of a run's folder, snapshot_NNNN.h5, in the order of their numbers. @throws IoError.
std::vector<std::filesystem::path> snapshots_in(const std::filesystem::path& folder);

/// What a picture of one of these snapshots needs so that it can stand beside those of the others.
struct FilmFrame {
    PictureFrame frame;             ///< holds what all show; of few bodies their whole paths
    picture::Trails trails;         ///< of few bodies
    std::vector<std::size_t> order; ///< of the snapshots, by their times
};
/// Reads all snapshots. @throws InvalidArgument, naming the file, where bodies are not those of the first
/// snapshot or cannot be drawn; IoError.
FilmFrame film_frame(std::span<const std::filesystem::path> snapshots, const DensityPlotOptions& options);

/// Writes an animated PNG with a frame a snapshot, in the order of their times; trails of few bodies grow.
/// `film` is of the same snapshots; the options give the frame. One snapshot is in memory at a time.
/// @throws as film_frame.
void write_film(const std::filesystem::path& png, std::span<const std::filesystem::path> snapshots,
                const FilmFrame& film, DensityPlotOptions options);

} // namespace farfield
