#include "sums/lattice/near_fields.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "sums/lattice/near_tile.h"
#include "sums/lattice/periodic_frame.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {
namespace {

/// Side of a cell over a, and how far sources are looked for.
constexpr double reach_of_a_cell = 0.6;

/// Points by cells, x fastest.
class Grid {
public:
    Grid(const PeriodicFrame& frame, const LatticePoints& points, double side) : length_(frame.length) {
        for (std::size_t k = 0; k < 3; ++k) {
            cells_[k] = std::max<std::int64_t>(1, static_cast<std::int64_t>(length_[k] / side));
            width_[k] = length_[k] / static_cast<double>(cells_[k]);
        }
        start_.assign(static_cast<std::size_t>(cells_[0] * cells_[1] * cells_[2]) + 1, 0);
        const auto cell = cells_of(points);
        for (const auto c : cell) ++start_[c + 1];
        for (std::size_t c = 1; c < start_.size(); ++c) start_[c] += start_[c - 1];
        const auto order = in_order(cell);
        for (std::size_t k = 0; k < 3; ++k) {
            points_[k].resize(order.size());
            for (std::size_t i = 0; i < order.size(); ++i)
                points_[k][i] = points[k][static_cast<std::size_t>(order[i])];
        }
    }

    /// Rows of points, those of one cell after those of another: neighbours meet the same points.
    [[nodiscard]] std::vector<std::int32_t> order_of(const LatticePoints& points) const {
        return in_order(cells_of(points));
    }

    /// The least squared distance to a point in the cells around a place, but for those at it; at most
    /// `limit`.
    [[nodiscard]] double nearest(const std::array<double, 3>& place, double limit) const {
        double least = limit;
        const auto home = at(place);
        const bool is_inner = home[0] > 0 && home[0] + 1 < cells_[0]; // a row's cells follow each other
        for (int off = 0; off < 9; ++off) {
            const auto y = (home[1] + off % 3 - 1 + cells_[1]) % cells_[1];
            const auto z = (home[2] + off / 3 - 1 + cells_[2]) % cells_[2];
            if (is_inner)
                look(index({home[0] - 1, y, z}), 3, place, least);
            else
                for (int step = -1; step <= 1; ++step)
                    look(index({(home[0] + step + cells_[0]) % cells_[0], y, z}), 1, place, least);
        }
        return least;
    }

private:
    [[nodiscard]] std::array<std::int64_t, 3> at(const std::array<double, 3>& place) const {
        std::array<std::int64_t, 3> out{};
        for (std::size_t k = 0; k < 3; ++k)
            out[k] = std::min(static_cast<std::int64_t>(place[k] / width_[k]), cells_[k] - 1);
        return out;
    }
    [[nodiscard]] std::size_t index(const std::array<std::int64_t, 3>& cell) const {
        return static_cast<std::size_t>((cell[2] * cells_[1] + cell[1]) * cells_[0] + cell[0]);
    }
    [[nodiscard]] std::vector<std::size_t> cells_of(const LatticePoints& points) const {
        std::vector<std::size_t> out(points[0].size());
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = index(at({points[0][i], points[1][i], points[2][i]}));
        return out;
    }
    [[nodiscard]] std::vector<std::int32_t> in_order(const std::vector<std::size_t>& cell) const {
        std::vector<std::int32_t> next(start_.size(), 0), order(cell.size());
        for (const auto c : cell) ++next[c + 1];
        for (std::size_t c = 1; c < next.size(); ++c) next[c] += next[c - 1];
        for (std::size_t i = 0; i < cell.size(); ++i)
            order[static_cast<std::size_t>(next[cell[i]]++)] = static_cast<std::int32_t>(i);
        return order;
    }
    /// At the points of `count` cells.
    void look(std::size_t cell, std::size_t count, const std::array<double, 3>& place, double& least) const {
        for (auto j = static_cast<std::size_t>(start_[cell]);
             j < static_cast<std::size_t>(start_[cell + count]); ++j) {
            double square = 0.0;
            for (std::size_t k = 0; k < 3; ++k) {
                const double d = std::abs(points_[k][j] - place[k]);
                const double shorter = std::min(d, length_[k] - d);
                square += shorter * shorter;
            }
            if (square > coincident_square) least = std::min(least, square);
        }
    }

    std::array<double, 3> length_;
    std::array<std::int64_t, 3> cells_{};
    std::array<double, 3> width_{};
    std::vector<std::int32_t> start_;
    LatticePoints points_;
};

/// What compute(first, last) gives for parts [first, last), of all parts: ranks compute some each.
template <class Compute>
std::vector<double> shared_parts(comm::Transport* ranks, std::size_t parts, const Compute& compute) {
    if (ranks == nullptr) return compute(0, parts);
    const auto begins = comm::equal_parts(*ranks, static_cast<std::int64_t>(parts));
    const auto rank = static_cast<std::size_t>(ranks->rank());
    const auto mine =
        compute(static_cast<std::size_t>(begins[rank]), static_cast<std::size_t>(begins[rank + 1]));
    return comm::gathered_parts(*ranks, std::span<const double>(mine), 1, begins);
}

} // namespace

double near_field_strength(const SumProblem& problem, std::span<const double> sources,
                           std::span<const double> targets, int threads, comm::Transport* ranks) {
    const PeriodicFrame frame(problem);
    const auto from = wrapped(frame, sources, threads), at = wrapped(frame, targets, threads);
    const auto& to = targets.empty() ? from : at;
    const auto n = from[0].size(), m = to[0].size();
    if (n == 0 || m == 0) return 1.0;
    const double a = std::cbrt(frame.volume() / static_cast<double>(n));
    const Grid grid(frame, from, reach_of_a_cell * a);
    const auto order = grid.order_of(to);
    const double soft = frame.softening * frame.softening;
    const double limit = reach_of_a_cell * reach_of_a_cell * a * a;
    const auto strength_at = [&](std::size_t i) {
        const double least = grid.nearest({to[0][i], to[1][i], to[2][i]}, limit);
        const double square = least + soft;
        return std::max(1.0, std::pow(a, 4) * (least < limit ? least / (square * square * square) : 0.0));
    };
    constexpr std::size_t part = std::size_t{1} << 12;
    const auto sums_of = [&](std::size_t first, std::size_t last) { // of parts of the targets
        const auto begin_row = std::min(first * part, m), end_row = std::min(last * part, m);
        RawVector<double> strengths(end_row - begin_row);
        parallel_parts(threads, m, [&](std::size_t begin, std::size_t end) {
            for (auto n_th = begin; n_th < end; ++n_th)
                if (const auto i = static_cast<std::size_t>(order[n_th]); i >= begin_row && i < end_row)
                    strengths[i - begin_row] = strength_at(i);
        });
        return parallel_results(
            threads, strengths.size(),
            [&](std::size_t begin, std::size_t end) {
                double sum = 0.0;
                for (auto i = begin; i < end; ++i) sum += strengths[i];
                return sum;
            },
            part);
    };
    double sum = 0.0;
    for (const double of_part : shared_parts(ranks, (m + part - 1) / part, sums_of)) sum += of_part;
    return std::sqrt(sum / static_cast<double>(m));
}

} // namespace farfield
