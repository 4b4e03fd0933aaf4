#include "io/picture/density_map.h"

#include <algorithm>
#include <array>
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

// Half-widths of squares that may be the one, each a bisection, on the logarithm, of the way to the next.
class HalfWidths {
public:
    explicit HalfWidths(double largest) : largest_(largest) { fill(1, least_half_width, largest); }

    // The least that is large enough, to 2 %; the largest where none is.
    template <class IsEnough>
    [[nodiscard]] double find(const IsEnough& is_enough) const {
        double found = largest_;
        for (std::size_t node = 1; node < middles_.size();) {
            const bool enough = is_enough(middles_[node]);
            if (enough) found = middles_[node];
            node = 2 * node + (enough ? 0 : 1);
        }
        return found;
    }

private:
    static constexpr int bisections = 8;
    void fill(std::size_t node, double low, double high) {
        if (node >= middles_.size()) return;
        middles_[node] = std::sqrt(low * high);
        fill(2 * node, low, middles_[node]);
        fill(2 * node + 1, middles_[node], high);
    }

    double largest_;
    std::array<double, std::size_t{1} << bisections> middles_{}; // node n has 2n below and 2n + 1 above it
};

// Sums over all cells to the lower left of a corner, so that the number in any rectangle takes four look-ups;
// between corners it is interpolated, as if each cell's bodies filled it evenly.
class CountTable {
public:
    CountTable(std::span<const PlacedBody> bodies, int size)
        : border_(std::ceil(margin * size)), cells_(size + 2 * static_cast<int>(border_)),
          sums_((cells_ + 1) * (cells_ + 1)), widths_(largest_half_width * size) {
        for (const auto& body : bodies)
            if (inside(body))
                sum(static_cast<std::size_t>(body.x + border_) + 1,
                    static_cast<std::size_t>(body.y + border_) + 1) += 1;
        for (std::size_t y = 1; y <= cells_; ++y)
            for (std::size_t x = 1; x <= cells_; ++x)
                sum(x, y) += sum(x - 1, y) + sum(x, y - 1) - sum(x - 1, y - 1);
    }

    [[nodiscard]] bool inside(const PlacedBody& body) const {
        const double end = static_cast<double>(cells_) - border_;
        return body.x >= -border_ && body.y >= -border_ && body.x < end && body.y < end;
    }

    // Half-width of the square around a body that holds `neighbours` bodies.
    [[nodiscard]] double half_width(const PlacedBody& body) const {
        return widths_.find([&](double half) { return count_within(body, half) >= neighbours; });
    }

private:
    [[nodiscard]] std::int32_t& sum(std::size_t x, std::size_t y) { return sums_[y * (cells_ + 1) + x]; }

    [[nodiscard]] double count_within(const PlacedBody& body, double half) const {
        const double x = body.x + border_, y = body.y + border_;
        const auto left = place(x - half), right = place(x + half);
        const auto bottom = place(y - half), top = place(y + half);
        return at(right, top) - at(left, top) - at(right, bottom) + at(left, bottom);
    }
    struct Place {
        std::int32_t cell;
        double within;
    };
    [[nodiscard]] Place place(double x) const {
        x = std::clamp(x, 0.0, static_cast<double>(cells_) - 1e-9);
        const auto cell = static_cast<std::int32_t>(x);
        return {cell, x - cell};
    }
    [[nodiscard]] double at(const Place& x, const Place& y) const {
        const auto row = cells_ + 1;
        const auto* const below = sums_.data() + static_cast<std::size_t>(y.cell) * row + x.cell;
        const auto* const above = below + row;
        const auto between = [&](const std::int32_t* sums) {
            return sums[0] * (1 - x.within) + sums[1] * x.within;
        };
        return between(below) * (1 - y.within) + between(above) * y.within;
    }

    double border_;
    std::size_t cells_;
    std::vector<std::int32_t> sums_;
    HalfWidths widths_;
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
        const double per_area = 1.0 / (radius * radius);
        const auto width = static_cast<std::size_t>(right - left);
        across_.resize(width);
        weights_.resize(width * static_cast<std::size_t>(top - bottom));
        for (std::size_t k = 0; k < width; ++k)
            across_[k] = squared(left + static_cast<int>(k), at_x) * per_area;
        std::array<double, 4> total{}; // so that one sum need not wait for another
        double* row = weights_.data();
        for (int y = bottom; y < top; ++y, row += width) {
            const double above = 1.0 - squared(y, at_y) * per_area;
            for (std::size_t k = 0; k < width; ++k) {
                const double inside = std::max(0.0, above - across_[k]);
                row[k] = inside * inside;
            }
            for (std::size_t k = 0; k < width; ++k) total[k % 4] += row[k];
        }
        const double scale = body.mass / ((total[0] + total[1] + (total[2] + total[3])) * cell_ * cell_);
        const int first = std::max(left, 0), last = std::min(right, cells_);
        for (int y = std::max(bottom, 0); y < std::min(top, cells_); ++y) {
            const double* const from = weights_.data() + static_cast<std::size_t>(y - bottom) * width;
            double* const to = map_.data() + index(0, y);
            for (int x = first; x < last; ++x) to[x] += scale * from[x - left];
        }
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
    /// The distance of a cell's centre from a place.
    static double squared(int cell, double place) {
        const double distance = cell + 0.5 - place;
        return distance * distance;
    }
    [[nodiscard]] std::size_t index(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(cells_) + static_cast<std::size_t>(x);
    }
    int cells_;
    double cell_;
    std::vector<double> map_;
    std::vector<double> across_, weights_; ///< of one body: along x, and by row
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
        const double radius = radius_factor * counts.half_width(body);
        (radius < coarse_from ? fine : coarse).add(body, std::max(least_radius, radius));
    }
    auto map = fine.map();
    std::size_t next = 0;
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) map[next++] += coarse.at(x + 0.5, y + 0.5);
    return map;
}

} // namespace farfield::picture
