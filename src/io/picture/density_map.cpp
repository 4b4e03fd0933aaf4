#include "io/picture/density_map.h"

#include "backend/threads/parallel.h"

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
                    static_cast<std::size_t>(body.y + border_) + 1) += 1U;
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
    [[nodiscard]] std::uint32_t& sum(std::size_t x, std::size_t y) { return sums_[y * (cells_ + 1) + x]; }

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
        const auto between = [&](const std::uint32_t* sums) {
            return sums[0] * (1 - x.within) + sums[1] * x.within;
        };
        return between(below) * (1 - y.within) + between(above) * y.within;
    }

    double border_;
    std::size_t cells_;
    std::vector<std::uint32_t> sums_;
    HalfWidths widths_;
};

// Adds one body's mass to the cells within `radius`; weights are divided by their sum, so that mass is kept
// however coarsely cells sample the kernel. A cell is `cell` pixels wide.
class Splatter {
public:
    Splatter(int cells, double cell)
        : cells_(cells), cell_(cell),
          map_(static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells)) {}

    /// Room for the weights of one body's cells.
    struct Room {
        std::vector<double> across, weights; ///< along x, and of all by row
    };

    /// To the cells of rows [first_row, end_row) alone.
    void add(const PlacedBody& body, double radius_in_pixels, int first_row, int end_row, Room& room) {
        const double radius = radius_in_pixels / cell_;
        const double at_x = body.x / cell_;
        const double at_y = body.y / cell_;
        const int left = static_cast<int>(std::floor(at_x - radius));
        const int right = static_cast<int>(std::ceil(at_x + radius));
        const int bottom = static_cast<int>(std::floor(at_y - radius));
        const int top = static_cast<int>(std::ceil(at_y + radius));
        if (right <= 0 || top <= first_row || left >= cells_ || bottom >= end_row) return;
        const double per_area = 1.0 / (radius * radius);
        const auto width = static_cast<std::size_t>(right - left);
        auto& [across, weights] = room;
        across.resize(width);
        weights.resize(width * static_cast<std::size_t>(top - bottom));
        for (std::size_t k = 0; k < width; ++k)
            across[k] = squared(left + static_cast<int>(k), at_x) * per_area;
        double total = 0.0;
        double* row = weights.data();
        for (int y = bottom; y < top; ++y, row += width) {
            const double above = 1.0 - squared(y, at_y) * per_area;
            double of_row = 0.0;
            for (std::size_t k = 0; k < width; ++k) {
                const double inside = std::max(0.0, above - across[k]);
                row[k] = inside * inside;
                of_row += row[k];
            }
            total += of_row;
        }
        const double scale = body.mass / (total * cell_ * cell_);
        const int first = std::max(left, 0), last = std::min(right, cells_);
        for (int y = std::max(bottom, first_row); y < std::min(top, end_row); ++y) {
            const double* const from = weights.data() + static_cast<std::size_t>(y - bottom) * width;
            double* const to = map_.data() + index(0, y);
            for (int x = first; x < last; ++x) to[x] += scale * from[x - left];
        }
    }
    [[nodiscard]] int cells() const { return cells_; }
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
};

// Wide discs go to a coarse map, a fraction of the work for no visible difference.
constexpr double coarse_cell = 5.0;
constexpr double coarse_from = 25.0; // pixels of radius
constexpr int rows_a_task = 45;      // of the fine map

struct Disc {
    std::size_t body;
    double radius;
};
using DiscsOfTasks = std::vector<std::vector<Disc>>; // of the coarse map, and then of rows of the fine one

// Of bodies [begin, end), in their order.
DiscsOfTasks discs_of(std::span<const PlacedBody> bodies, std::size_t begin, std::size_t end,
                      const CountTable& counts, int row_tasks) {
    DiscsOfTasks found(1 + static_cast<std::size_t>(row_tasks));
    const auto task_of = [&](double y) {
        return 1 + std::clamp(static_cast<int>(std::floor(y / rows_a_task)), 0, row_tasks - 1);
    };
    for (auto i = begin; i < end; ++i) {
        const auto& body = bodies[i];
        if (!counts.inside(body)) continue;
        const double radius = std::max(least_radius, radius_factor * counts.half_width(body));
        const bool is_wide = radius >= coarse_from;
        const int first = is_wide ? 0 : task_of(body.y - radius - 1.0);
        const int last = is_wide ? 0 : task_of(body.y + radius + 1.0);
        for (int task = first; task <= last; ++task)
            found[static_cast<std::size_t>(task)].push_back({i, radius});
    }
    return found;
}

} // namespace

// A task adds bodies, in their order, to some rows of a map, so that sums do not depend on threads.
std::vector<double> density_map(std::span<const PlacedBody> bodies, int size, int threads) {
    const CountTable counts(bodies, size);
    const int row_tasks = (size + rows_a_task - 1) / rows_a_task;
    const auto parts = parallel_results(threads, bodies.size(), [&](std::size_t begin, std::size_t end) {
        return discs_of(bodies, begin, end, counts, row_tasks);
    });
    Splatter fine(size, 1.0);
    Splatter coarse(static_cast<int>(std::ceil(size / coarse_cell)), coarse_cell);
    const auto add = [&](Splatter& map, std::int64_t task, int first_row, int end_row) {
        Splatter::Room room;
        for (const auto& part : parts)
            for (const auto& [body, radius] : part[static_cast<std::size_t>(task)])
                map.add(bodies[body], radius, first_row, end_row, room);
    };
    parallel_for(threads, 1 + row_tasks, [&](std::int64_t task) {
        if (task == 0) return add(coarse, task, 0, coarse.cells());
        const int first = (static_cast<int>(task) - 1) * rows_a_task;
        add(fine, task, first, std::min(first + rows_a_task, size));
    });
    auto map = fine.map();
    const auto width = static_cast<std::size_t>(size);
    parallel_parts(
        threads, width,
        [&](std::size_t begin, std::size_t end) {
            for (auto y = begin; y < end; ++y)
                for (std::size_t x = 0; x < width; ++x)
                    map[y * width + x] +=
                        coarse.at(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
        },
        rows_a_task);
    return map;
}

} // namespace farfield::picture
