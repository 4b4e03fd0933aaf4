#include "sums/run/plot_points.h"

#include "io/csv.h"
#include "io/npy.h"
#include "io/picture/axes.h"
#include "io/picture/plot_field.h"
#include "io/points_file.h"
#include "sums/around/spread.h"

#include <farfield/density.h>
#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace farfield {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t picture_cells = 900; // as many as pixels
constexpr double margin = 3.0;              // in widths of a Gaussian
constexpr double sum_tolerance = 1e-5;      // of the largest density: a hundredth of a step of colour

constexpr PointLayout layout{.least_dimension = 2,
                             .most_dimension = 2,
                             .strength = "q",
                             .second = {},
                             .strengths = StrengthsIn::some_files};

// Pictures are true to scale unless one side would be less than a third of the other.
bool is_thread(double width, double height) { return !(width <= 3.0 * height && height <= 3.0 * width); }

void set_frame(PointDensity& density, std::span<const double> points, std::int64_t cells) {
    std::array<double, 2> low{points[0], points[1]}, high = low;
    for (std::size_t i = 0; i < points.size(); ++i) {
        low[i % 2] = std::min(low[i % 2], points[i]);
        high[i % 2] = std::max(high[i % 2], points[i]);
    }
    density.left = low[0] - margin * density.widths[0];
    density.right = high[0] + margin * density.widths[0];
    density.bottom = low[1] - margin * density.widths[1];
    density.top = high[1] + margin * density.widths[1];
    const double width = density.right - density.left;
    const double height = density.top - density.bottom;
    if (!std::isfinite(width) || !std::isfinite(height) || !(width > 0.0) || !(height > 0.0))
        throw InvalidArgument(
            fmt::format("the points reach from ({:g}, {:g}) to ({:g}, {:g}), which no picture "
                        "shows; use other units or a larger --sigma",
                        low[0], low[1], high[0], high[1]));
    const double longer = std::max(width, height);
    const bool thread = is_thread(width, height);
    const auto share = [&](double side) {
        return thread ? cells
                      : std::max<std::int64_t>(1, std::llround(static_cast<double>(cells) * side / longer));
    };
    density.columns = share(width);
    density.rows = share(height);
}

std::vector<double> middles_of(const PointDensity& density) {
    std::vector<double> out;
    out.reserve(static_cast<std::size_t>(2 * density.columns * density.rows));
    const double width = (density.right - density.left) / static_cast<double>(density.columns);
    const double height = (density.top - density.bottom) / static_cast<double>(density.rows);
    for (std::int64_t row = 0; row < density.rows; ++row)
        for (std::int64_t column = 0; column < density.columns; ++column)
            out.insert(out.end(), {density.left + width * (static_cast<double>(column) + 0.5),
                                   density.bottom + height * (static_cast<double>(row) + 0.5)});
    return out;
}

// What the frame needs to know before anything is summed.
std::array<double, 2> widths_of(std::span<const double> points, std::span<const double> weights,
                                double sigma) {
    const auto sums = weight_sums(weights);
    const auto widths = (sigma > 0.0 ? round_spread(2, sigma)
                                     : spread_by_rule(BandwidthRule::scott, points, 2, weights, sums))
                            .widths();
    return {widths[0], widths[1]};
}

} // namespace

bool holds_plane_points(const fs::path& path) {
    try {
        if (path.extension() == ".npy") {
            const auto shape = read_npy(path).shape;
            return shape.size() == 2 && (shape[1] == 2 || shape[1] == 3);
        }
        if (path.extension() != ".csv") return false;
        const auto table = read_csv(path);
        return table.find("x") != nullptr && table.find("y") != nullptr && table.find("z") == nullptr;
    } catch (const Error&) {
        return false; // whoever reads it as something else says what is wrong
    }
}

PointDensity point_density(std::span<const double> points, std::span<const double> weights, double sigma,
                           std::int64_t cells, const SumHooks& hooks) {
    const std::vector<double> ones(weights.empty() ? points.size() / 2 : 0, 1.0);
    if (weights.empty()) weights = ones;
    PointDensity out;
    out.widths = widths_of(points, weights, sigma);
    set_frame(out, points, cells);
    const auto targets = middles_of(out);
    out.values.resize(targets.size() / 2);
    const DensityOptions options{
        .bandwidth = sigma > 0.0 ? BandwidthRule::sigma : BandwidthRule::scott,
        .sum = {.kernel = Kernel::gauss,
                .method = Method::fgt, // by name: which is fastest depends on the number of threads
                .sigma = sigma,
                .tolerance = sum_tolerance,
                .precision = Precision::float64,
                .device = {.kind = DeviceKind::cpu}}};
    out.report = density({.points = matrix_view(points, 2),
                          .weights = weights,
                          .targets = matrix_view(std::span<const double>(targets), 2)},
                         options, {.density = std::span<double>(out.values)}, hooks)
                     .sum;
    for (auto& value : out.values) value = std::max(0.0, value);
    return out;
}

namespace {

// Values of a picture are floats: those beyond their range become multiples of a power of ten.
int exponent_for(double largest) {
    constexpr double most = 1e30;
    return largest > 0.0 && (largest > most || largest < 1.0 / most)
               ? static_cast<int>(std::floor(std::log10(largest)))
               : 0;
}

void draw(const PointsPlotTask& task, const PointDensity& density, std::size_t points) {
    const double largest = *std::max_element(density.values.begin(), density.values.end());
    const int exponent = exponent_for(largest);
    std::vector<float> values;
    values.reserve(density.values.size());
    for (const double value : density.values)
        values.push_back(static_cast<float>(value / std::pow(10.0, exponent)));
    const double top = largest / std::pow(10.0, exponent);
    const picture::ValueRange range{.low = 0.0, .high = top > 0.0 ? picture::round_up(top) : 1.0};
    const picture::Plane plane{.columns = density.columns,
                               .rows = density.rows,
                               .left = density.left,
                               .right = density.right,
                               .bottom = density.bottom,
                               .top = density.top,
                               .x_label = "x",
                               .y_label = "y"};
    const picture::FieldPicture page{
        .title = task.points.stem().string(),
        .moment = fmt::format("N = {}", picture::number_text(static_cast<double>(points), 9)),
        .values_label = exponent == 0 ? "density" : fmt::format("density [10^{{{}}}]", exponent),
        .outlines = {},
        .to_scale = !is_thread(density.right - density.left, density.top - density.bottom)};
    picture::draw_field(plane, values, range, page).write_png(task.out);
}

std::string text_of(const PointsPlotTask& task, const PointDensity& density, std::size_t points) {
    const auto place = static_cast<std::int64_t>(
        std::max_element(density.values.begin(), density.values.end()) - density.values.begin());
    const auto middle = [](double low, double high, std::int64_t cell, std::int64_t cells) {
        return low + (high - low) * (static_cast<double>(cell) + 0.5) / static_cast<double>(cells);
    };
    const auto width = task.sigma > 0.0 ? fmt::format("{:.4g}", task.sigma)
                                        : fmt::format("{:.4g} along x and {:.4g} along y, by Scott's rule",
                                                      density.widths[0], density.widths[1]);
    return fmt::format(
        "Density of {} points by Gaussians of width {}; the largest is {:.4g}, at ({:.4g}, {:.4g})\n"
        "x from {:.4g} to {:.4g}, y from {:.4g} to {:.4g}, {}×{} cells, summed by method '{}'\n"
        "Files made:\n  {}\n",
        points, width, density.values[static_cast<std::size_t>(place)],
        middle(density.left, density.right, place % density.columns, density.columns),
        middle(density.bottom, density.top, place / density.columns, density.rows), density.left,
        density.right, density.bottom, density.top, density.columns, density.rows,
        name_of(density.report.method), task.out.string());
}

} // namespace

std::string plot_points(const PointsPlotTask& task) {
    if (task.out.extension() != ".png")
        throw InvalidArgument(
            fmt::format("{}: pictures are PNG files; end the name with .png", task.out.string()));
    const auto read = read_sources(task.points, layout);
    try {
        const auto density =
            point_density(read.points, read.strengths, task.sigma, picture_cells, task.hooks);
        draw(task, density, read.points.size() / 2);
        return text_of(task, density, read.points.size() / 2);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(fmt::format("{}: {}", task.points.string(), error.what()));
    }
}

} // namespace farfield
