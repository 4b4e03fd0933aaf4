// For u the unit of rounding and n sources near a target, with operations counted in the loops
// (direct/cpu/blocks) and rounded up:
//
//     δφ ≤ (32 + n)u Σ|q|/r + δ Σ|q|/r²             + dipoles: (64 + n)u Σ|p|/r² + 2δ Σ|p|/r³
//     δE ≤ (64 + n)u Σ|q|/r² + 2δ Σ|q|/r³           +          4(96 + n)u Σ|p|/r³ + 6δ Σ|p|/r⁴
//     δH ≤ 5(96 + n)u Σ|q|/r³ + √2·6δ Σ|q|/r⁴       +          32(128 + n)u Σ|p|/r⁴ + √2·24δ Σ|p|/r⁵
//
// δ is how far rounding moves two points to each other. The factors 5, 4 and 32 are for terms whose parts
// cancel, such as 3 d dᵀ/r⁵ − 1/r³. Floats are added up in short chains, and these in doubles.
#include "sums/fmm/near_bounds.h"

#include "backend/threads/parallel.h"
#include "sums/method/problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace farfield {
namespace {

/// Longest sum of floats before it is added to a double: 128 or 256 terms, and those of a vector's lanes.
constexpr double longest_float_chain = 320.0;
/// Far below any strength that counts, beyond where products of floats lose digits.
constexpr double negligible_strength = 0x1p-110;

struct Roundings {
    double unit = std::numeric_limits<double>::epsilon() / 2.0;
    double moved = 0.0; ///< of a point, in parts of its distance from the origin
    bool wide = true;
};

Roundings roundings_of(Precision precision) {
    constexpr double single = 0x1p-24;
    if (is_wide(precision)) return {};
    return {.unit = single,
            .moved = precision == Precision::mixed ? 4.0 * single * single : single,
            .wide = false};
}

/// Σ|q|/r^k for k = 1 … 4, and Σ|p|/r^k for k = 2 … 5.
struct PowerSums {
    double charges[4] = {};
    double dipoles[4] = {};
    /// The same, times how far the points of each pair move.
    double moved_charges[4] = {};
    double moved_dipoles[4] = {};

    void add(double inverse, double charge, double dipole, double moved) {
        double power = inverse;
        for (int k = 0; k < 4; ++k) {
            charges[k] += charge * power;
            moved_charges[k] += moved * charge * power;
            power *= inverse;
            if (dipole == 0.0) continue; // else infinity times 0
            dipoles[k] += dipole * power;
            moved_dipoles[k] += moved * dipole * power;
        }
    }
    /// Of charges that rounding does not move.
    void add(double inverse, double charge) {
        const double potential = charge * inverse;
        charges[0] += potential;
        charges[1] += potential * inverse;
        charges[2] += potential * inverse * inverse;
    }
};

/// What the pairs of a leaf need of their sources.
class NearSources {
public:
    explicit NearSources(const NearBoundsTask& task) : task_(task), roundings_(roundings_of(task.precision)) {
        const auto count = task.tree->sources().from.size();
        const double least = roundings_.wide ? 0.0 : negligible_strength;
        for (std::size_t i = 0; i < count; ++i) {
            charges_.push_back(std::abs(task.strengths[i]) + least);
            moved_.push_back(moved(task.tree->sources(), i));
            if (!task.dipoles.empty())
                dipoles_.push_back(
                    std::hypot(task.dipoles[3 * i], task.dipoles[3 * i + 1], task.dipoles[3 * i + 2]) +
                    least);
        }
    }

    /// By as much as rounding moves a point.
    [[nodiscard]] double moved(const TreePoints& points, std::size_t i) const {
        return roundings_.moved * std::hypot(points.x[0][i], points.x[1][i], points.x[2][i]);
    }

    void add(BlockRange range, const double* x, double moved_target, PowerSums& sums) const {
        const auto& y = task_.tree->sources();
        for (auto j = static_cast<std::size_t>(range.begin); j < static_cast<std::size_t>(range.end); ++j) {
            const double d[3] = {x[0] - y.x[0][j], x[1] - y.x[1][j], x[2] - y.x[2][j]};
            const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            const double r = r2 > 1e-280 ? std::sqrt(r2) : std::hypot(d[0], d[1], d[2]);
            if (r == 0.0) continue; // itself, or left out
            if (roundings_.wide && dipoles_.empty()) {
                sums.add(1.0 / r, charges_[j]);
                continue;
            }
            const double both = moved_target + moved_[j];
            const double inverse = 2.0 * both < r ? 1.0 / (r - both) : HUGE_VAL;
            sums.add(inverse, charges_[j], dipoles_.empty() ? 0.0 : dipoles_[j], both);
        }
    }

    /// Units of rounding that a term meets: `own` in its own making, and those of n additions.
    [[nodiscard]] double units(double own, double n) const {
        constexpr double wide_unit = std::numeric_limits<double>::epsilon() / 2.0;
        if (roundings_.wide) return (own + n) * wide_unit;
        return (own + std::min(n, longest_float_chain)) * roundings_.unit + n * wide_unit;
    }

private:
    const NearBoundsTask& task_;
    Roundings roundings_;
    std::vector<double> charges_, dipoles_, moved_;
};

double rounding_of(std::size_t output, const PowerSums& s, double n, const NearSources& near) {
    const double root = std::sqrt(2.0);
    switch (output) {
    case 0:
        return near.units(32.0, n) * s.charges[0] + s.moved_charges[1] + near.units(64.0, n) * s.dipoles[0] +
               2.0 * s.moved_dipoles[1];
    case 1:
        return near.units(64.0, n) * s.charges[1] + 2.0 * s.moved_charges[2] +
               4.0 * near.units(96.0, n) * s.dipoles[1] + 6.0 * s.moved_dipoles[2];
    default:
        return 5.0 * near.units(96.0, n) * s.charges[2] + 6.0 * root * s.moved_charges[3] +
               32.0 * near.units(128.0, n) * s.dipoles[2] + 24.0 * root * s.moved_dipoles[3];
    }
}

/// The near leaves of each leaf, itself among them.
BlockRows near_leaves(const Octree& tree, const NearLists& lists) {
    if (!tree.self()) return lists.direct;
    std::vector<BlockRange> blocks;
    for (const auto leaf : lists.leaves) blocks.push_back(tree.cell(leaf).sources);
    const auto both = both_halves({.targets = blocks,
                                   .sources = blocks,
                                   .first = lists.direct.first,
                                   .partners = lists.direct.partners,
                                   .own = true});
    BlockRows out;
    for (std::size_t leaf = 0; leaf < blocks.size(); ++leaf) {
        out.partners.push_back(static_cast<std::int32_t>(leaf));
        out.partners.insert(out.partners.end(), both.partners.begin() + both.first[leaf],
                            both.partners.begin() + both.first[leaf + 1]);
        out.first.push_back(static_cast<std::int32_t>(out.partners.size()));
    }
    return out;
}

} // namespace

void add_near_rounding(const NearBoundsTask& task, OutputBounds& bounds) {
    const auto& tree = *task.tree;
    const auto& leaves = task.lists->leaves;
    const auto rows = near_leaves(tree, *task.lists);
    const NearSources near(task);
    const auto& targets = tree.targets();
    parallel_for(task.threads, static_cast<std::int64_t>(leaves.size()), [&](std::int64_t number) {
        const auto leaf = static_cast<std::size_t>(number);
        const auto& cell = tree.cell(leaves[leaf]);
        for (auto i = static_cast<std::size_t>(cell.targets.begin);
             i < static_cast<std::size_t>(cell.targets.end); ++i) {
            const double x[3] = {targets.x[0][i], targets.x[1][i], targets.x[2][i]};
            PowerSums sums;
            double n = 0.0;
            for (auto k = rows.first[leaf]; k < rows.first[leaf + 1]; ++k) {
                const auto partner = static_cast<std::size_t>(rows.partners[static_cast<std::size_t>(k)]);
                const auto range = tree.cell(leaves[partner]).sources;
                near.add(range, x, near.moved(targets, i), sums);
                n += range.size();
            }
            for (std::size_t output = 0; output < bounded_outputs; ++output)
                if (!bounds[output].rounding.empty())
                    bounds[output].rounding[i] += rounding_of(output, sums, n, near);
        }
    });
}

} // namespace farfield
