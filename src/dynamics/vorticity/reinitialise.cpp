#include "dynamics/vorticity/reinitialise.h"

#include "base/machine.h"
#include "base/spelling.h"
#include "dynamics/bodies/plane.h"
#include "dynamics/bodies/reductions.h"
#include "dynamics/vorticity/interpolation.h"
#include "dynamics/vorticity/lattice.h"
#include "dynamics/vorticity/moments.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace farfield {
namespace {

constexpr double two_pi = 2.0 * std::numbers::pi;

/// Sites of the lattice where there is vorticity.
struct Sites {
    std::vector<double> points; ///< N×2
    std::vector<double> values; ///< N, 2πσ₀² ω: what Gaussians of size σ₀ are to sum to
};

// The middle of |Γ|, so that the lattice moves with the flow; without any circulation the origin.
std::array<double, 2> centre_of(const Gaussians& old) {
    const auto n = static_cast<std::int64_t>(old.strengths.size());
    const auto sum = [&](const auto& factor) {
        return pairwise_sum(0, n, [&](std::int64_t i) {
            return std::abs(old.strengths[static_cast<std::size_t>(i)]) * factor(2 * i);
        });
    };
    const double all = sum([](std::int64_t) { return 1.0; });
    if (!(all > 0.0)) return {};
    const auto mean = [&](std::int64_t k) {
        return sum([&](std::int64_t i) { return old.points[static_cast<std::size_t>(i + k)]; }) / all;
    };
    return {mean(0), mean(1)};
}

// Before it is taken: places and values of candidates, five vectors of the solution, new bodies, and beside
// them what sums of Gaussians hold.
double checked_bytes(double candidates) {
    constexpr double numbers_a_site = 3 + 5 + 12 + 20;
    const double bytes = 8.0 * numbers_a_site * candidates;
    const auto memory = static_cast<double>(physical_memory());
    if (bytes > memory)
        throw InvalidArgument(fmt::format("placing the vortices anew needs {:.1f} GiB of memory for a "
                                          "lattice of {} sites, and this machine "
                                          "has {:.1f}; use a larger {}, {} or {}",
                                          bytes / 0x1p30, candidates, memory / 0x1p30, spelled("sigma"),
                                          spelled("overlap"), spelled("vorticity_threshold")));
    return bytes;
}

// Without those whose vorticity is below the threshold.
void keep_strong(Sites& sites, double threshold) {
    double largest = 0.0;
    for (const double value : sites.values) largest = std::max(largest, std::abs(value));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sites.values.size(); ++i) {
        if (!(std::abs(sites.values[i]) > threshold * largest)) continue;
        sites.values[kept] = sites.values[i];
        sites.points[2 * kept] = sites.points[2 * i];
        sites.points[2 * kept + 1] = sites.points[2 * i + 1];
        ++kept;
    }
    sites.values.resize(kept);
    sites.points.resize(2 * kept);
}

// A Gaussian's tail beyond `reach` is below the threshold.
Sites sites_of(const Gaussians& old, const Lattice& lattice, const ForceOptions& options,
               const GaussSumSettings& sums, Reinitialisations& record) {
    const double reach = std::sqrt(2.0 * old.variance * std::log(1.0 / options.vorticity_threshold));
    const double across = 2.0 * reach / lattice.spacing; // of one vortex alone
    (void)checked_bytes(across * across);
    const auto runs = sites_near(lattice, old.points, reach);
    record.predicted_bytes =
        std::max(record.predicted_bytes, checked_bytes(static_cast<double>(count_of(runs))));
    Sites sites;
    sites.points = positions_of(lattice, runs);
    // what errors of the sum make of nothing is not to be taken for vorticity
    auto exact_enough = sums;
    exact_enough.tolerance = std::max(1e-13, std::min(sums.tolerance, 0.1 * options.vorticity_threshold));
    sites.values = sum_at(old, sites.points, exact_enough);
    const double narrower = options.sigma * options.sigma / old.variance;
    for (auto& value : sites.values) value *= narrower;
    keep_strong(sites, options.vorticity_threshold);
    return sites;
}

// h² ω of vortices whose cores are smaller by what the new ones bring: G(σ² − σ₀²) convolved with G(σ₀²) is
// G(σ²), so that these circulations are the solution but for the sum that takes the place of an integral.
std::vector<double> first_circulations(const Gaussians& old, const Sites& sites, double spacing, double size2,
                                       const GaussSumSettings& sums) {
    auto narrow = old;
    narrow.variance = old.variance - size2;
    auto out = sum_at(narrow, sites.points, sums);
    for (auto& value : out) value *= spacing * spacing / (two_pi * narrow.variance);
    return out;
}

// In units of `length` about the centre, with the angular impulse that spreading has brought the old ones.
VortexMoments wanted_moments(const Gaussians& old, const Lattice& lattice, double size2) {
    auto moments = moments_of(old.points, old.strengths, lattice.anchor, lattice.spacing);
    moments[3] += 2.0 * (old.variance - size2) / (lattice.spacing * lattice.spacing) * moments[0];
    return moments;
}

// ‖ω' − ω‖/‖ω‖ in the middle between four sites.
double error_between(const Gaussians& old, const Gaussians& fresh, double spacing,
                     const GaussSumSettings& sums) {
    std::vector<double> middles(fresh.points.begin(), fresh.points.end());
    for (auto& x : middles) x += 0.5 * spacing;
    const auto before = sum_at(old, middles, sums);
    const auto now = sum_at(fresh, middles, sums);
    const double narrower = fresh.variance / old.variance;
    const auto sum_of_squares = [&](const auto& term) {
        return pairwise_sum(0, static_cast<std::int64_t>(now.size()), [&](std::int64_t i) {
            const double value = term(static_cast<std::size_t>(i));
            return value * value;
        });
    };
    const double all = sum_of_squares([&](std::size_t i) { return narrower * before[i]; });
    const double rest = sum_of_squares([&](std::size_t i) { return now[i] - narrower * before[i]; });
    return all > 0.0 ? std::sqrt(rest / all) : 0.0;
}

// Where there is no vorticity, the old ones are as good as new.
Bodies moved(const SpreadVortices& vortices) {
    auto out = vortices.bodies;
    out.position.assign(vortices.position.begin(), vortices.position.end());
    return out;
}

Bodies bodies_of(const Sites& sites, std::vector<double> circulation, const Bodies& before) {
    const auto n = circulation.size();
    Bodies out;
    out.position.assign(3 * n, 0.0);
    out.velocity.assign(3 * n, 0.0);
    const auto last = *std::max_element(before.id.begin(), before.id.end());
    if (last > std::numeric_limits<std::uint64_t>::max() - n)
        throw InvalidArgument(
            fmt::format("a vortex has the id {}, which leaves none for new ones; use smaller "
                        "ids",
                        last));
    for (std::size_t i = 0; i < n; ++i) {
        out.position[3 * i] = sites.points[2 * i];
        out.position[3 * i + 1] = sites.points[2 * i + 1];
        out.mass.push_back(std::abs(circulation[i]));
        out.id.push_back(last + 1 + i);
    }
    out.charge = std::move(circulation);
    return out;
}

void check_residual(const Reinitialisations& record, const ForceOptions& options) {
    if (record.residual <= options.residual_tolerance) return;
    throw ToleranceNotReached(fmt::format(
        "vortices were to be placed anew with a residual of at most {:g} of the vorticity, and {:.2g} was "
        "reached in {} iterations; use a smaller {}, a smaller {} or a larger {}",
        options.residual_tolerance, record.residual, record.iterations, spelled("overlap"),
        spelled("vorticity_threshold"), spelled("residual_tolerance")));
}

void count_in(Reinitialisations& record) {
    ++record.count;
    record.largest_residual = std::max(record.largest_residual, record.residual);
    record.largest_vorticity_error = std::max(record.largest_vorticity_error, record.vorticity_error);
    record.most_iterations = std::max(record.most_iterations, record.iterations);
}

} // namespace

bool needs_reinitialising(const ForceOptions& options, double variance) {
    constexpr double rounding = 1e-9; // of a sum of steps
    const double largest = options.core_growth * options.sigma;
    return options.reinitialise != Reinitialise::none && variance >= largest * largest * (1.0 - rounding);
}

Bodies reinitialised(const SpreadVortices& vortices, const ForceOptions& options,
                     const std::function<bool()>& stop_requested, Reinitialisations& record) {
    const double size2 = options.sigma * options.sigma;
    const GaussSumSettings sums{.tolerance = std::max(1e-13, 0.01 * options.residual_tolerance),
                                .threads = options.threads,
                                .isa = options.isa,
                                .stop_requested = stop_requested};
    const auto points = in_plane(vortices.position);
    const Gaussians old{points, vortices.bodies.charge, vortices.variance};
    const Lattice lattice{.anchor = centre_of(old), .spacing = options.overlap * options.sigma};
    const auto sites = sites_of(old, lattice, options, sums, record);
    if (sites.values.empty()) {
        count_in(record);
        return moved(vortices);
    }
    auto circulation = first_circulations(old, sites, lattice.spacing, size2, sums);
    set_moments(sites.points, circulation, lattice.anchor, lattice.spacing,
                wanted_moments(old, lattice, size2));
    const MomentSpace moments(sites.points, lattice.anchor, lattice.spacing);
    GaussMatrix matrix(sites.points, size2, sums);
    record.iterations = matrix.solve(sites.values, circulation, 0.9 * options.residual_tolerance,
                                     [&](std::vector<double>& change) { moments.take_out_of(change); });
    record.residual = matrix.residual(sites.values, circulation);
    record.vorticity_error = error_between(old, {sites.points, circulation, size2}, lattice.spacing, sums);
    check_residual(record, options);
    count_in(record);
    return bodies_of(sites, std::move(circulation), vortices.bodies);
}

} // namespace farfield
