// Pictures of files: what `farfield plot` does.
#pragma once

#include <filesystem>
#include <string>

namespace farfield {

struct PlotTask {
    std::filesystem::path input; ///< bodies in any format that can be read, or the diagnostics.csv of a run
    std::filesystem::path out;   ///< .png
    std::string plane;           ///< xy, xz or yz; empty: xy. Bodies only
    double width = 0.0; ///< of the square shown, in length units; 0: chosen from the bodies. Bodies only
};

/// A table with the columns `time` and `relative_energy_error` is plotted against time, anything else is
/// taken for bodies. @returns what was drawn, for people.
/// @throws InvalidArgument for an input or an option that does not fit it; IoError.
std::string plot_file(const PlotTask& task);

} // namespace farfield
