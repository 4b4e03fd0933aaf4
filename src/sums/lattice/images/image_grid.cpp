#include "sums/lattice/images/image_grid.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr double nearly = 1e-9; ///< of a cell: sides that divide evenly do so whatever their rounding

int floor_divided(int a, int b) {
    return static_cast<int>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
}

/// Away from the rim on either side all cells share their near images.
int kind_of(int cell, int cells, int rim) {
    return rim * 2 >= cells || cell < rim ? cell : cell >= cells - rim ? cell - cells + 2 * rim + 1 : rim;
}

} // namespace

Lengths ImageGrid::centre(const Whole& cell) const {
    Lengths out{};
    for (std::size_t k = 0; k < 3; ++k) out[k] = low[k] + (cell[k] + 0.5) * side(k);
    return out;
}

int ImageGrid::cell_of(double x, std::size_t axis) const {
    if (cells[axis] == 1) return 0;
    const auto cell = static_cast<int>((x - low[axis]) / side(axis));
    return std::clamp(cell, 0, cells[axis] - 1);
}

Whole ImageGrid::cell_of(int number) const {
    return {number % cells[0], number / cells[0] % cells[1], number / (cells[0] * cells[1])};
}

// −rim ≤ cell + n·cells < cells + rim
ImageGrid::Range ImageGrid::near(int cell, std::size_t axis) const {
    if (!is_periodic(axis)) return {};
    return {-floor_divided(rim[axis] + cell, cells[axis]),
            floor_divided(cells[axis] - 1 + rim[axis] - cell, cells[axis])};
}

// |source + n·cells − target| ≤ rim
ImageGrid::Range ImageGrid::near(int target, int source, std::size_t axis) const {
    if (!around_cells) return near(source, axis);
    const int offset = target - source;
    return {-floor_divided(rim[axis] - offset, cells[axis]), floor_divided(rim[axis] + offset, cells[axis])};
}

Whole ImageGrid::offset(const Whole& target, const Whole& source) const {
    Whole out{};
    for (std::size_t k = 0; k < 3; ++k) {
        out[k] = target[k] - source[k];
        if (!around_cells) continue;
        if (2 * out[k] > cells[k]) out[k] -= cells[k];
        if (2 * out[k] < -cells[k]) out[k] += cells[k];
    }
    return out;
}

ImageGrid::Range ImageGrid::near_for_any(std::size_t axis) const {
    if (around_cells) return {near(0, cells[axis] - 1, axis).first, near(cells[axis] - 1, 0, axis).last};
    return {near(cells[axis] - 1, axis).first, near(0, axis).last};
}

std::uint64_t ImageGrid::kind(int target, int source) const {
    const auto to = cell_of(target), from = cell_of(source);
    std::uint64_t kind = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        const int place = is_periodic(k) && !around_cells ? kind_of(from[k], cells[k], rim[k]) : 0;
        kind = kind << 11 | static_cast<std::uint64_t>(to[k] - from[k] + cells[k]);
        kind = kind << 10 | static_cast<std::uint64_t>(place);
    }
    return kind;
}

double ImageGrid::copies() const {
    double product = 1.0;
    for (std::size_t k = 0; k < 3; ++k) product *= 1.0 + 2.0 * rim[k] / cells[k];
    return product;
}

double ImageGrid::offsets() const {
    double product = 1.0;
    for (const int along : cells) product *= around_cells ? along / 2 + 1 : along;
    return product;
}

double ImageGrid::operators() const {
    if (around_cells) return std::pow(2.0 * cells[0] - 1.0, 3);
    double product = 1.0;
    for (std::size_t k = 0; k < 3; ++k) {
        const double pairs = static_cast<double>(cells[k]) * cells[k];
        // cells away from the rim's width share their images: pairs differ by offset alone
        const double kinds =
            is_periodic(k) ? std::min(2.0 * rim[k] + 1.0, static_cast<double>(cells[k])) : 1.0;
        product *= std::min(pairs, kinds * (2.0 * cells[k] - 1.0));
    }
    return product;
}

bool is_in(const std::array<ImageGrid::Range, 3>& ranges, const Whole& n) {
    for (std::size_t k = 0; k < 3; ++k)
        if (n[k] < ranges[k].first || n[k] > ranges[k].last) return false;
    return true;
}

std::pair<Whole, int> without_signs(Whole offset) {
    int signs = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        if (offset[k] >= 0) continue;
        offset[k] = -offset[k];
        signs |= 1 << k;
    }
    return {offset, signs};
}

ImageGrid image_grid(const Lengths& period, const Lengths& low, const Lengths& extent, double width,
                     int separation) {
    ImageGrid out{.period = period, .low = low, .extent = extent};
    double longest = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
        if (out.is_periodic(k)) out.extent[k] = period[k];
        out.cells[k] = static_cast<int>(std::clamp(std::ceil(out.extent[k] / width - nearly), 1.0, 1e6));
        longest = std::max(longest, out.side(k));
    }
    out.width = longest > 0.0 ? longest : width;
    for (std::size_t k = 0; k < 3; ++k)
        if (out.is_periodic(k))
            out.rim[k] =
                static_cast<int>(std::ceil((separation + 1.0) * out.width / out.side(k) - nearly)) - 1;
    return out;
}

std::optional<ImageGrid> best_image_grid(const Lengths& period, const Lengths& low, const Lengths& extent,
                                         int separation,
                                         const std::function<double(const ImageGrid&)>& seconds) {
    constexpr double most_operators = 4096.0, most_cells = 1024.0, most_copies = 1000.0;
    double shortest = HUGE_VAL;
    for (const double length : period)
        if (length > 0.0) shortest = std::min(shortest, length);
    std::optional<ImageGrid> best;
    double best_seconds = HUGE_VAL;
    for (const double factor : {0.25, 1.0 / 3.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {
        const auto grid = image_grid(period, low, extent, factor * shortest, separation);
        const double cells = static_cast<double>(grid.cells[0]) * grid.cells[1] * grid.cells[2];
        if (cells > most_cells || grid.operators() > most_operators || grid.copies() > most_copies) continue;
        const double takes = seconds(grid);
        if (!(takes < best_seconds)) continue;
        best_seconds = takes;
        best = grid;
    }
    return best;
}

} // namespace farfield
