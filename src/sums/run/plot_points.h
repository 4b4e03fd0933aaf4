// A picture of the density of points in the plane: a kernel density estimate with Gaussians, by the fast
// Gauss transform.
#pragma once

#include <farfield/sum.h>

#include <filesystem>
#include <string>
#include <vector>

namespace farfield {

struct PointsPlotTask {
    /// .csv with columns x and y, and q (or m) for weights; .npy N×2, or N×3 with weights
    std::filesystem::path points;
    std::filesystem::path out; ///< .png
    double sigma = 0.0;        ///< width of the Gaussians in the points' unit; 0: by Scott's rule
    SumHooks hooks{};
};

/// Whether the file holds points in the plane, and no bodies or diagnostics. False for one that cannot be
/// read.
bool holds_plane_points(const std::filesystem::path& path);

/// Values on cells of a rectangle, row by row from the bottom.
struct PointDensity {
    std::int64_t columns = 0, rows = 0;
    double left = 0.0, right = 0.0, bottom = 0.0, top = 0.0;
    std::vector<double> values;     ///< at the middles of the cells; their integral over the plane is 1
    std::array<double, 2> widths{}; ///< of a Gaussian along x and y
    SumReport report;
};

/// The density Σ w G(x − x_i)/Σ w of points N×2 with weights N (empty: 1 each), on cells that cover all
/// points and three widths around, `cells` along the longer side. `sigma` as in the task.
/// @throws InvalidArgument for weights and points that have none; Interrupted.
PointDensity point_density(std::span<const double> points, std::span<const double> weights, double sigma,
                           std::int64_t cells, const SumHooks& hooks = {});

/// @returns what was drawn, for people.
/// @throws InvalidArgument, IoError; Interrupted before anything is written.
std::string plot_points(const PointsPlotTask& task);

} // namespace farfield
