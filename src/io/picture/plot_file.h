// Pictures of files: what `farfield plot` does.
#pragma once

#include "io/picture.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

struct PlotTask {
    /// Files of bodies in any format that can be read, folders of runs, which stand for their snapshots, or
    /// the diagnostics.csv of a run alone.
    std::vector<std::filesystem::path> inputs;
    std::filesystem::path out; ///< .png
    // Bodies only:
    std::string plane{};                ///< xy, xz or yz; empty: xy
    double width = 0.0;                 ///< of the square shown, in length units; 0: chosen from the bodies
    std::optional<ShownDensity> show{}; ///< empty: as DensityPlotOptions has it
    bool animate = false;               ///< a frame of an animated PNG for each file
};

/// A table with the columns `time` and `relative_energy_error` is plotted against time, anything else is
/// taken for bodies. Of several files the latest is drawn, with the trails of few bodies through all.
/// @returns what was drawn, for people.
/// @throws InvalidArgument for an input or an option that does not fit it; IoError.
std::string plot_files(const PlotTask& task);

} // namespace farfield
