// A picture of curves over logarithmic axes, such as times against sizes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace farfield::picture {

struct NamedCurve {
    std::string name;
    std::vector<double> x, y; ///< as many of each, all > 0, in the order of the line
    bool dashed = false;
};

struct CurvesPlot {
    std::string title, x_label, y_label;
    std::vector<NamedCurve> curves; ///< named at the right, from the one that ends highest
};

/// Draws the curves with their points. The same input gives the same bytes on every machine with the same
/// zlib.
/// @throws InvalidArgument for no points, or numbers that are not finite and > 0; IoError.
void plot_curves(const std::filesystem::path& png, const CurvesPlot& plot);

} // namespace farfield::picture
