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

struct Grid {
    std::array<std::int64_t, 3> cells{};
    std::array<double, 3> width{};
    std::vector<std::int32_t> start, order;

    [[nodiscard]] std::array<std::int64_t, 3> at(const LatticePoints& points, std::size_t i) const {
        std::array<std::int64_t, 3> out{};
        for (std::size_t k = 0; k < 3; ++k)
            out[k] = std::min(static_cast<std::int64_t>(points[k][i] / width[k]), cells[k] - 1);
        return out;
    }
    [[nodiscard]] std::size_t index(const std::array<std::int64_t, 3>& cell) const {
        return static_cast<std::size_t>((cell[2] * cells[1] + cell[1]) * cells[0] + cell[0]);
    }
};

Grid grid_of(const PeriodicFrame& frame, const LatticePoints& points, double side) {
    Grid out;
    for (std::size_t k = 0; k < 3; ++k) {
        out.cells[k] = std::max<std::int64_t>(1, static_cast<std::int64_t>(frame.length[k] / side));
        out.width[k] = frame.length[k] / static_cast<double>(out.cells[k]);
    }
    const auto n = points[0].size();
    std::vector<std::size_t> cell(n);
    out.start.assign(static_cast<std::size_t>(out.cells[0] * out.cells[1] * out.cells[2]) + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
        cell[i] = out.index(out.at(points, i));
        ++out.start[cell[i] + 1];
    }
    for (std::size_t c = 1; c < out.start.size(); ++c) out.start[c] += out.start[c - 1];
    auto next = out.start;
    out.order.resize(n);
    for (std::size_t i = 0; i < n; ++i)
        out.order[static_cast<std::size_t>(next[cell[i]]++)] = static_cast<std::int32_t>(i);
    return out;
}

/// What compute(first, last) gives for parts [first, last), of all parts: ranks compute some each.
template <class Compute>
std::vector<double> shared_parts(comm::Transport* ranks, std::size_t parts, const Compute& compute) {
    if (ranks == nullptr) return compute(0, parts);
    const auto begins = comm::equal_parts(*ranks, static_cast<std::int64_t>(parts));
    const auto rank = static_cast<std::size_t>(ranks->rank());
    const auto mine =
        compute(static_cast<std::size_t>(begins[rank]), static_cast<std::size_t>(begins[rank + 1]));
    std::vector<std::int64_t> counts;
    counts.reserve(begins.size());
    for (std::size_t r = 0; r + 1 < begins.size(); ++r) counts.push_back(begins[r + 1] - begins[r]);
    return comm::all_gathered(*ranks, std::span<const double>(mine), counts);
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
    const auto grid = grid_of(frame, from, reach_of_a_cell * a);
    const double soft = frame.softening * frame.softening;
    const double limit = reach_of_a_cell * reach_of_a_cell * a * a;
    const auto nearest = [&](std::size_t i) {
        double least = limit;
        const auto home = grid.at(to, i);
        for (int off = 0; off < 27; ++off) {
            auto cell = home;
            const std::array step{off % 3 - 1, off / 3 % 3 - 1, off / 9 - 1};
            for (std::size_t k = 0; k < 3; ++k) cell[k] = (cell[k] + step[k] + grid.cells[k]) % grid.cells[k];
            const auto c = grid.index(cell);
            for (auto j = grid.start[c]; j < grid.start[c + 1]; ++j) {
                double square = 0.0;
                for (std::size_t k = 0; k < 3; ++k) {
                    const double d =
                        std::abs(from[k][static_cast<std::size_t>(grid.order[static_cast<std::size_t>(j)])] -
                                 to[k][i]);
                    const double shorter = std::min(d, frame.length[k] - d);
                    square += shorter * shorter;
                }
                if (square > coincident_square) least = std::min(least, square);
            }
        }
        const double square = least + soft;
        return least < limit ? least / (square * square * square) : 0.0;
    };
    constexpr std::size_t part = std::size_t{1} << 12;
    const auto sums_of = [&](std::size_t first, std::size_t last) { // of parts of the targets
        return parallel_results(
            threads, std::min(last * part, m) - std::min(first * part, m),
            [&](std::size_t begin, std::size_t end) {
                double sum = 0.0;
                for (auto i = begin; i < end; ++i)
                    sum += std::max(1.0, std::pow(a, 4) * nearest(first * part + i));
                return sum;
            },
            part);
    };
    double sum = 0.0;
    for (const double of_part : shared_parts(ranks, (m + part - 1) / part, sums_of)) sum += of_part;
    return std::sqrt(sum / static_cast<double>(m));
}

} // namespace farfield
