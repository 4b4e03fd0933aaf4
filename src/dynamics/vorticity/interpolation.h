// Interpolation by Gaussians: strengths at sites whose Gaussians sum to given values at the sites. The matrix
// exp(−|y_i − y_j|²/2σ²) is symmetric and positive definite, so the method of conjugate gradients (Hestenes &
// Stiefel 1952) solves it; its product with a vector is a fast Gauss transform. What is to stay of the
// strengths, such as their sum, is kept by projecting residuals (Gould, Hribar & Nocedal 2001, SIAM J. Sci.
// Comput. 23, 1376).
#pragma once

#include <farfield/sum.h>

#include <functional>
#include <span>
#include <vector>

namespace farfield {

/// How sums of Gaussians are computed.
struct GaussSumSettings {
    double tolerance = 1e-9; ///< of each, relative to its largest value
    int threads = 0;
    Isa isa = Isa::automatic;
    std::function<bool()> stop_requested{};
};

/// Gaussians of one size at N places in the plane.
struct Gaussians {
    std::span<const double> points;    ///< N×2
    std::span<const double> strengths; ///< N
    double variance = 0.0;             ///< σ²
};

/// Σ_j q_j exp(−|x_i − y_j|²/2σ²) at targets x (M×2).
/// @throws Interrupted where sums.stop_requested said so.
std::vector<double> sum_at(const Gaussians& gaussians, std::span<const double> targets,
                           const GaussSumSettings& sums);

class GaussMatrix {
public:
    /// Of sites N×2.
    GaussMatrix(std::span<const double> sites, double variance, const GaussSumSettings& sums);
    /// A x.
    [[nodiscard]] std::vector<double> times(std::span<const double> x);
    /// ‖b − A x‖/‖b‖ in the L2 norm; 0 where b is 0.
    [[nodiscard]] double residual(std::span<const double> values, std::span<const double> x);
    /// Improves `x` until the residual is at most `tolerance`, or what is left of it lies in what `project`
    /// takes out, or for as many steps as are allowed. `project` takes a linear space out of a vector;
    /// changes of `x` have no part in it. The same bits for any number of threads.
    /// @returns the number of steps.
    int solve(std::span<const double> values, std::vector<double>& x, double tolerance,
              const std::function<void(std::vector<double>&)>& project);
    [[nodiscard]] double predicted_bytes() const { return plan_.report().predicted_bytes; }

private:
    SumPlan plan_;
    std::function<bool()> stop_requested_;
};

} // namespace farfield
