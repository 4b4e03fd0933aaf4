#include "dynamics/vorticity/lattice.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace farfield {
namespace {

std::int64_t nearest_index(double x, double anchor, double spacing) {
    constexpr double most = 0x1p40; // sites so far away still differ by 4000 roundings and more
    const double index = std::round((x - anchor) / spacing);
    if (!(std::abs(index) < most))
        throw InvalidArgument(fmt::format(
            "a vortex lies {:g} from the others, too far for a lattice of spacing {:g}; remove vortices that "
            "have left the flow, or use larger cores",
            std::abs(x - anchor), spacing));
    return static_cast<std::int64_t>(index);
}

// Sorted, and one run where several overlap or touch.
std::vector<SiteRun> merged(std::vector<SiteRun> runs) {
    std::sort(runs.begin(), runs.end(), [](const SiteRun& a, const SiteRun& b) {
        return std::pair(a.row, a.first) < std::pair(b.row, b.first);
    });
    std::vector<SiteRun> out;
    for (const auto& run : runs) {
        if (!out.empty() && out.back().row == run.row && run.first <= out.back().last + 1)
            out.back().last = std::max(out.back().last, run.last);
        else
            out.push_back(run);
    }
    return out;
}

} // namespace

std::vector<SiteRun> sites_near(const Lattice& lattice, std::span<const double> points, double reach) {
    const auto cells = static_cast<std::int64_t>(std::ceil(reach / lattice.spacing + 0.5));
    std::vector<SiteRun> beside;
    beside.reserve(points.size() / 2);
    for (std::size_t i = 0; i < points.size(); i += 2) {
        const auto column = nearest_index(points[i], lattice.anchor[0], lattice.spacing);
        const auto row = nearest_index(points[i + 1], lattice.anchor[1], lattice.spacing);
        beside.push_back({row, column - cells, column + cells});
    }
    beside = merged(std::move(beside));
    std::vector<SiteRun> all;
    all.reserve(beside.size() * static_cast<std::size_t>(2 * cells + 1));
    for (const auto& run : beside)
        for (auto row = run.row - cells; row <= run.row + cells; ++row)
            all.push_back({row, run.first, run.last});
    return merged(std::move(all));
}

std::int64_t count_of(std::span<const SiteRun> runs) {
    std::int64_t count = 0;
    for (const auto& run : runs) count += run.last - run.first + 1;
    return count;
}

std::vector<double> positions_of(const Lattice& lattice, std::span<const SiteRun> runs) {
    std::vector<double> out;
    out.reserve(2 * static_cast<std::size_t>(count_of(runs)));
    for (const auto& run : runs) {
        const double y = lattice.anchor[1] + lattice.spacing * static_cast<double>(run.row);
        for (auto column = run.first; column <= run.last; ++column)
            out.insert(out.end(), {lattice.anchor[0] + lattice.spacing * static_cast<double>(column), y});
    }
    return out;
}

} // namespace farfield
