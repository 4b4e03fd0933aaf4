// Square lattices of sites in the plane, of which only those near some points are held.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// The site of row i and column j is at anchor + spacing·(j, i).
struct Lattice {
    std::array<double, 2> anchor{};
    double spacing = 1.0;
};

/// Sites of one row, from column `first` to column `last`, both included.
struct SiteRun {
    std::int64_t row = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// All sites whose coordinates both differ by at most `reach` from those of one of the points (N×2), and some
/// farther by up to a spacing. Rows grow, columns in a row too; no two runs touch.
/// @throws InvalidArgument where points are so many spacings away from the anchor that sites would round.
std::vector<SiteRun> sites_near(const Lattice& lattice, std::span<const double> points, double reach);

std::int64_t count_of(std::span<const SiteRun> runs);

/// N×2, in the order of the runs.
std::vector<double> positions_of(const Lattice& lattice, std::span<const SiteRun> runs);

} // namespace farfield
