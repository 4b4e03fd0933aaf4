#include "sums/pme/mesh_choice.h"

#include "sums/pme/mesh_error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace farfield {
namespace {

constexpr std::int32_t most_points = 1 << 12; ///< of an axis

/// Spacings of meshes that are looked at, times α, from coarse to fine.
constexpr int spacings = 72;
double spacing_of(int i) { return 2.4 * std::exp2(-i / 6.0); }

// The least number of mesh points ≥ `least` that transforms like: of factors 2, 3 and 5, and of 4.
std::int32_t mesh_points(double least) {
    for (auto n = static_cast<std::int32_t>(std::ceil(std::max(least, 1.0) / 4.0)) * 4;; n += 4) {
        auto rest = n;
        for (const int factor : {2, 3, 5})
            while (rest % factor == 0) rest /= factor;
        if (rest == 1) return n;
    }
}

/// mesh_errors of the spacings that were asked for.
class SpacingErrors {
public:
    explicit SpacingErrors(double softness) : softness_(softness) {}

    /// The first spacing with no more than that; `spacings` if there is none. Finer ones have less.
    int coarsest(int order, double allowed) {
        int low = 0, high = spacings;
        while (low < high) {
            const int middle = (low + high) / 2;
            auto& errors = errors_[static_cast<std::size_t>(middle)];
            if (!errors) errors = mesh_errors(spacing_of(middle), softness_);
            if ((*errors)[static_cast<std::size_t>(order - least_spline_order)] <= allowed)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }

private:
    double softness_;
    std::array<std::optional<decltype(mesh_errors(1.0, 0.0))>, spacings> errors_;
};

double mesh_seconds(const MeshChoice& choice, const PeriodicFrame& frame, const SumProblem& problem,
                    const MeshRates& rates) {
    const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    const Cutoffs cutoffs{.splitting = choice.splitting, .near = choice.near, .wave = 0.0};
    const int row = rates.padded ? padded_order(choice.order) : choice.order;
    const double rows = (n + m) * choice.order * choice.order * row / 8.0;
    return m * near_images(frame, n, cutoffs) * rates.pair + rows * rates.row +
           choice.points() * std::log2(choice.points()) * rates.transform;
}

} // namespace

MeshRates mesh_rates(const CostTable& table) {
    return {.pair = cost_of(table, "lattice.cpu.pair_seconds"),
            .row = cost_of(table, "pme.cpu.row_seconds"),
            .transform = cost_of(table, "pme.cpu.transform_seconds")};
}

// In units of what a pair of a direct sum in double takes: about the times of bench/results/h200/pme.json,
// with sorting.
MeshRates mesh_rates_on_gpu(const CostTable& table, std::string_view gpu) {
    const double unit = 1.0 / cost_of_gpu(table, "direct.gpu.MODEL.double.pairs_per_second", gpu);
    return {.pair = 14.0 * unit, .row = 14.0 * unit, .transform = 7.0 * unit, .padded = false};
}

MeshChoice best_mesh(const SumProblem& problem, int order, double goal, const MeshRates& rates) {
    const PeriodicFrame frame(problem);
    const auto sources = static_cast<double>(problem.sources);
    const double spacing = std::cbrt(frame.volume() / std::max(sources, 1.0));
    const double shortest = *std::min_element(frame.length.begin(), frame.length.end());
    const double least = 0.5 / std::cbrt(frame.volume()), most = 20.0 / std::min(spacing, shortest);
    const double soft_unit = frame.softening > spacing ? std::sqrt(spacing / frame.softening) : 1.0;
    SpacingErrors errors(0.0);
    MeshChoice best;
    best.seconds = HUGE_VAL;
    constexpr double factor = 1.09050773266525766; // 2^(1/8)
    for (double alpha = least; alpha <= most; alpha *= factor) {
        if (frame.softening > 0.0) errors = SpacingErrors(alpha * frame.softening);
        const auto cutoffs = cutoffs_for(frame, sources, alpha, goal);
        const double allowed = goal * goal * soft_unit * soft_unit / (alpha * spacing);
        for (int p = least_spline_order; p <= most_spline_order; ++p) {
            if (order > 0 ? p != order : p % 2 != 0) continue;
            const int coarsest = errors.coarsest(p, allowed);
            if (coarsest == spacings) continue;
            const double h = spacing_of(coarsest) / alpha;
            if (*std::max_element(frame.length.begin(), frame.length.end()) > h * most_points) continue;
            MeshChoice choice;
            choice.splitting = cutoffs.splitting;
            choice.near = cutoffs.near;
            choice.order = p;
            for (std::size_t k = 0; k < 3; ++k)
                choice.mesh[k] = mesh_points(std::max(frame.length[k] / h, static_cast<double>(p)));
            choice.seconds = mesh_seconds(choice, frame, problem, rates);
            if (choice.seconds < best.seconds) best = choice;
        }
    }
    return best;
}

} // namespace farfield
