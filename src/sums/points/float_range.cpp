// The search: only points with a coordinate that is small beside the extent, not 0, can be of a lost pair;
// their neighbours are found in a grid of cells as wide as the smallest normal float.
#include "sums/points/float_range.h"

#include "backend/threads/parallel.h"
#include "base/spelling.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace farfield {
namespace {

constexpr int smallest_normal = -126;          // exponent of float
constexpr int digits_of_float = 24;            // of float
constexpr double harmless_softening = 0x1p-20; // in the frame, where the extent is 2^10

using Coordinates = std::array<double, 3>;

struct Point {
    Coordinates cell{};
    Coordinates at{}; // in cells
    std::int64_t row = 0;
};

bool by_cell(const Point& a, const Point& b) { return a.cell < b.cell; }

class Cells {
public:
    Cells(std::span<const double> points, const Frame& frame) {
        points_.resize(points.size() / 3);
        for (std::size_t i = 0; i < points_.size(); ++i) points_[i] = point(points, i, frame);
        std::sort(points_.begin(), points_.end(), by_cell);
    }

    static Point point(std::span<const double> points, std::size_t row, const Frame& frame) {
        Point out{.row = static_cast<std::int64_t>(row)};
        for (std::size_t k = 0; k < 3; ++k) {
            out.at[k] = std::ldexp(points[3 * row + k] - frame.origin[k], frame.exponent - smallest_normal);
            out.cell[k] = std::floor(out.at[k]);
        }
        return out;
    }

    /// A point nearer than a cell to `point` and not at its place; null if there is none.
    [[nodiscard]] const Point* near(const Point& point) const {
        constexpr int neighbours = 27;
        for (int n = 0; n < neighbours; ++n) {
            Point probe;
            const std::array<int, 3> step{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            for (std::size_t k = 0; k < 3; ++k) probe.cell[k] = point.cell[k] + step[k];
            const auto [first, last] = std::equal_range(points_.begin(), points_.end(), probe, by_cell);
            for (auto other = first; other != last; ++other) {
                const double distance = distance_of(point, *other);
                if (distance > 0.0 && distance < 1.0) return &*other;
            }
        }
        return nullptr;
    }

    static double distance_of(const Point& a, const Point& b) {
        return std::hypot(a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2]);
    }

private:
    std::vector<Point> points_;
};

// Rows with a coordinate, not 0, below the threshold.
std::vector<std::size_t> rows_below(std::span<const double> points, const Frame& frame, double threshold,
                                    int threads) {
    const auto is_below = [&](std::size_t i) {
        bool below = false; // without a branch
        for (std::size_t k = 0; k < 3; ++k) {
            const double x = std::abs(points[3 * i + k] - frame.origin[k]);
            below |= (x < threshold) & (x > 0.0);
        }
        return below;
    };
    std::vector<std::size_t> rows;
    for (const auto& of_part : parallel_results(threads, points.size() / 3, [&](auto begin, auto end) {
             std::vector<std::size_t> found;
             bool any = false;
             for (auto i = begin; i < end; ++i) any |= is_below(i);
             for (auto i = begin; any && i < end; ++i)
                 if (is_below(i)) found.push_back(i);
             return found;
         }))
        rows.insert(rows.end(), of_part.begin(), of_part.end());
    return rows;
}

/// False where no pair matters.
bool counts(const Frame& frame, double softening, Precision precision) {
    return precision != Precision::float64 && std::ldexp(softening, frame.exponent) <= harmless_softening;
}

/// The smallest coordinate that keeps its digits. In mixed precision what rounding took off a coordinate is
/// the first to be lost.
double smallest_kept(const Frame& frame, Precision precision) {
    const int exponent = smallest_normal + (precision == Precision::mixed ? digits_of_float : 0);
    return std::ldexp(1.0, exponent - frame.exponent);
}

} // namespace

bool may_go_beyond_float(std::span<const double> points, const Frame& frame, double softening,
                         Precision precision, int threads) {
    return counts(frame, softening, precision) &&
           !rows_below(points, frame, smallest_kept(frame, precision), threads).empty();
}

std::optional<LostPair> pair_beyond_float(std::span<const double> sources, std::span<const double> targets,
                                          const Frame& frame, double softening, Precision precision,
                                          int threads) {
    if (!counts(frame, softening, precision)) return std::nullopt;
    const double threshold = smallest_kept(frame, precision);
    const auto found = [&](const Point& target, const Point& source) {
        return LostPair{target.row, source.row,
                        std::ldexp(Cells::distance_of(target, source), smallest_normal - frame.exponent)};
    };
    const auto small_sources = rows_below(sources, frame, threshold, threads);
    const auto small_targets = rows_below(targets, frame, threshold, threads);
    if (!small_sources.empty()) {
        const auto& others = targets.empty() ? sources : targets;
        const Cells cells(others, frame);
        for (const auto row : small_sources) {
            const auto source = Cells::point(sources, row, frame);
            if (const auto* target = cells.near(source)) return found(*target, source);
        }
    }
    if (!small_targets.empty()) {
        const Cells cells(sources, frame);
        for (const auto row : small_targets) {
            const auto target = Cells::point(targets, row, frame);
            if (const auto* source = cells.near(target)) return found(target, *source);
        }
    }
    return std::nullopt;
}

void require_float_range(std::span<const double> sources, std::span<const double> targets, const Frame& frame,
                         double softening, Precision precision, int threads) {
    const auto lost = pair_beyond_float(sources, targets, frame, softening, precision, threads);
    if (!lost) return;
    const auto rows =
        targets.empty()
            ? fmt::format("rows {} and {} of the points", lost->source, lost->target)
            : fmt::format("row {} of the targets and row {} of the sources", lost->target, lost->source);
    throw InvalidArgument(fmt::format(
        "{} are {:.3g} apart, too little beside the extent of all points for {}, "
        "which would lose the pair: "
        "the ratio is beyond float's 1e38; use {}, or leave out what lies far off",
        rows, lost->distance, spelled("precision", name_of(precision)), spelled("precision", "double")));
}

} // namespace farfield
