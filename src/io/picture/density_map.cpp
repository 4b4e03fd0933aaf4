#include "io/picture/density_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace farfield::picture {
namespace {

constexpr double neighbours = 40.0;         // bodies in the square that sets the smoothing
constexpr double radius_factor = 1.6;       // R over that square's half-width
constexpr double least_radius = 1.6;        // pixels
constexpr double least_half_width = 0.5;    // pixels
constexpr double largest_half_width = 0.15; // of the picture
constexpr double margin = 0.15;             // bodies this far outside of the picture count, in its widths

// Sums over all cells to the lower left of a corner, so that the number in any rectangle takes four look-ups;
// between corners it is interpolated, as if each cell's bodies filled it evenly.
class CountTable {
public:
    CountTable(std::span<const PlacedBody> bodies, int size)
        : border_(std::ceil(margin * size)), cells_(size + 2 * static_cast<int>(border_)),
          sums_((cells_ + 1) * (cells_ + 1), 0U) {
        for (const auto& body : bodies)
            if (inside(body))
                sum(static_cast<std::size_t>(body.x + border_) + 1,
                    static_cast<std::size_t>(body.y + border_) + 1) += 1U;
        for (std::size_t y = 1; y <= cells_; ++y)
            for (std::size_t x = 1; x <= cells_; ++x)
                sum(x, y) += sum(x - 1, y) + sum(x, y - 1) - sum(x - 1, y - 1);
    }

    [[nodiscard]] bool inside(const PlacedBody& body) const {
        const double end = static_cast<double>(cells_) - border_;
        return body.x >= -border_ && body.y >= -border_ && body.x < end && body.y < end;
    }

    // Half-width of the square around a body that holds `neighbours` bodies, at most `largest`.
    [[nodiscard]] double half_width(const PlacedBody& body, double largest) const {
        double low = least_half_width;
        double high = largest;
        constexpr int bisections = 8; // of the logarithm: to 2 %
        for (int i = 0; i < bisections; ++i) {
            const double middle = std::sqrt(low * high);
            (count_within(body, middle) < neighbours ? low : high) = middle;
        }
        return high;
    }

private:
    [[nodiscard]] std::uint32_t& sum(std::size_t x, std::size_t y) { return sums_[y * (cells_ + 1) + x]; }
    [[nodiscard]] std::uint32_t sum(std::size_t x, std::size_t y) const {
        return sums_[y * (cells_ + 1) + x];
    }

    [[nodiscard]] double count_within(const PlacedBody& body, double half) const {
        const double left = body.x - half + border_;
        const double bottom = body.y - half + border_;
        const double right = left + 2 * half;
        const double top = bottom + 2 * half;
        return at(right, top) - at(left, top) - at(right, bottom) + at(left, bottom);
    }
    [[nodiscard]] double at(double x, double y) const {
        const double end = static_cast<double>(cells_) - 1e-9;
        x = std::clamp(x, 0.0, end);
        y = std::clamp(y, 0.0, end);
        const auto i = static_cast<std::size_t>(x);
        const auto j = static_cast<std::size_t>(y);
        const double u = x - static_cast<double>(i);
        const double v = y - static_cast<double>(j);
        return (sum(i, j) * (1 - u) + sum(i + 1, j) * u) * (1 - v) +
               (sum(i, j + 1) * (1 - u) + sum(i + 1, j + 1) * u) * v;
    }

    double border_;
    std::size_t cells_;
    std::vector<std::uint32_t> sums_;
};

// Adds one body's mass to the cells within `radius`; weights are divided by their sum, so that mass is kept
// however coarsely cells sample the kernel. A cell is `cell` pixels wide.
class Splatter {
public:
    Splatter(int cells, double cell)
        : cells_(cells), cell_(cell),
          map_(static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells)) {}

    void add(const PlacedBody& body, double radius_in_pixels) {
        const double radius = radius_in_pixels / cell_;
        const double at_x = body.x / cell_;
        const double at_y = body.y / cell_;
        const int left = static_cast<int>(std::floor(at_x - radius));
        const int right = static_cast<int>(std::ceil(at_x + radius));
        const int bottom = static_cast<int>(std::floor(at_y - radius));
        const int top = static_cast<int>(std::ceil(at_y + radius));
        if (right <= 0 || top <= 0 || left >= cells_ || bottom >= cells_) return;
        weights_.clear();
        double total = 0.0;
        for (int y = bottom; y < top; ++y)
            for (int x = left; x < right; ++x) {
                const double dx = x + 0.5 - at_x;
                const double dy = y + 0.5 - at_y;
                const double inside = std::max(0.0, 1.0 - (dx * dx + dy * dy) / (radius * radius));
                weights_.push_back(inside * inside);
                total += inside * inside;
            }
        const double scale = body.mass / (total * cell_ * cell_);
        std::size_t next = 0;
        for (int y = bottom; y < top; ++y)
            for (int x = left; x < right; ++x, ++next)
                if (x >= 0 && y >= 0 && x < cells_ && y < cells_) map_[index(x, y)] += scale * weights_[next];
    }
    [[nodiscard]] const std::vector<double>& map() const { return map_; }
    /// Between the centres of cells; the outermost cells' values beyond.
    [[nodiscard]] double at(double x, double y) const {
        const double end = static_cast<double>(cells_) - 1.0;
        const double u = std::clamp(x / cell_ - 0.5, 0.0, end);
        const double v = std::clamp(y / cell_ - 0.5, 0.0, end);
        const int i = std::min(static_cast<int>(u), cells_ - 2);
        const int j = std::min(static_cast<int>(v), cells_ - 2);
        const double fx = u - i;
        const double fy = v - j;
        return (map_[index(i, j)] * (1 - fx) + map_[index(i + 1, j)] * fx) * (1 - fy) +
               (map_[index(i, j + 1)] * (1 - fx) + map_[index(i + 1, j + 1)] * fx) * fy;
    }

private:
    [[nodiscard]] std::size_t index(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(cells_) + static_cast<std::size_t>(x);
    }
    int cells_;
    double cell_;
    std::vector<double> map_;
    std::vector<double> weights_;
};

} // namespace

std::vector<double> density_map(std::span<const PlacedBody> bodies, int size) {
    const CountTable counts(bodies, size);
    // Wide discs go to a coarse map, a fraction of the work for no visible difference.
    constexpr double coarse_cell = 5.0;
    constexpr double coarse_from = 25.0; // pixels of radius
    Splatter fine(size, 1.0);
    Splatter coarse(static_cast<int>(std::ceil(size / coarse_cell)), coarse_cell);
    for (const auto& body : bodies) {
        if (!counts.inside(body)) continue;
        const double radius = radius_factor * counts.half_width(body, largest_half_width * size);
        (radius < coarse_from ? fine : coarse).add(body, std::max(least_radius, radius));
    }
    auto map = fine.map();
    std::size_t next = 0;
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) map[next++] += coarse.at(x + 0.5, y + 0.5);
    return map;
}

} // namespace farfield::picture
