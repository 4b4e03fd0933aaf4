// Densities of points: kernel density estimates with Gaussians in 1 to 6 dimensions, as sums of Gaussians.
//
// p(x) = 1/W Σ w_i exp(−(x − x_i)ᵀ H⁻¹ (x − x_i)/2)/((2π)^{d/2} √det H) with W = Σ w. Its integral is 1. By
// Scott's or Silverman's rule (Scott 1992, Multivariate Density Estimation, §6.2; Silverman 1986, Density
// Estimation, §4.3) H = f² C, with the conventions of SciPy's gaussian_kde:
//   C = Σ w (x − m)(x − m)ᵀ/(1 − Σ w²), m = Σ w x, both with weights that add up to 1,
//   n = (Σ w)²/Σ w², Scott: f = n^{−1/(d + 4)}, Silverman: f = (n (d + 2)/4)^{−1/(d + 4)}.
// With a given width H = σ² in every direction. Lengths are in the unit of the points, a density in that unit
// to the power −d; weights in any unit.
#pragma once

#include <farfield/sum.h>

#include <cstdint>
#include <vector>

namespace farfield {

/// What says how wide the Gaussians are; `sigma`: `SumOptions::sigma`, or a width for each point.
enum class BandwidthRule : std::uint8_t { scott, silverman, sigma };

std::string_view name_of(BandwidthRule rule);
template <>
std::optional<BandwidthRule> from_name<BandwidthRule>(std::string_view name);
template <>
std::vector<std::string_view> names_of<BandwidthRule>();

/// Arrays of the host or of one GPU, of any strides. An array that is not there has no dimensions.
struct DensityPoints {
    ConstArrayView points{};  ///< N×d
    ConstArrayView weights{}; ///< N, ≥ 0; absent: 1 each
    ConstArrayView targets{}; ///< M×d, where the density is wanted; absent: at the points
    ConstArrayView sigmas{};  ///< N, > 0: the width of each point's own Gaussian; absent: one for all
};

struct DensityOptions {
    BandwidthRule bandwidth = BandwidthRule::scott;
    /// How it is summed: kernel `gauss`; `sigma` > 0 only for BandwidthRule::sigma. With SelfTerm::exclude
    /// the density at point i is that of all other points (leave-one-out): its divisor is W − w_i in place of
    /// W. `tolerance` bounds the largest error over the largest density, and over the longest gradient.
    /// Lengths of gradients are measured in units of the Gaussians' widths along their main axes.
    SumOptions sum{.kernel = Kernel::gauss};
};

/// Arrays of the host, float32 or float64. What is absent is not computed.
struct DensityOutputs {
    ArrayView density{};  ///< M
    ArrayView gradient{}; ///< M×d, +∇p
};

/// What the widths of the Gaussians came from, and how the sum went.
struct DensityReport {
    BandwidthRule bandwidth = BandwidthRule::scott;
    double factor = 0.0;    ///< f; 1 for BandwidthRule::sigma
    double effective = 0.0; ///< n = (Σ w)²/Σ w²
    double weight = 0.0;    ///< W
    /// L of C = L Lᵀ, d×d, row by row, zeros above the diagonal; empty for BandwidthRule::sigma.
    std::vector<double> cholesky{};
    /// Of a Gaussian along each axis: f √C_kk, or σ. Empty if every point has a width of its own.
    std::vector<double> widths{};
    SumReport sum{}; ///< of the sum of Gaussians; its errors are those of the density
};

/// Result of `density`; owns its memory. Row-major; the gradient is empty unless asked for.
struct DensityResult {
    std::vector<double> density;
    std::vector<double> gradient;
    DensityReport report;
};

/// Computes the outputs that are present.
/// @throws InvalidArgument for wrong shapes, a number that is not finite, a weight < 0 or a width ≤ 0 (names
///         the row), weights of which none is > 0, points that a rule has no widths for (fewer than d + 1
///         with a weight, or in a subspace; names the coordinate), a point that has all the weight with
///         SelfTerm::exclude, another kernel, a width beside a rule, and densities that a double does not
///         hold; and what SumPlan throws: ToleranceNotReached, Interrupted, DeviceError and others.
DensityReport density(const DensityPoints& given, const DensityOptions& options,
                      const DensityOutputs& outputs, const SumHooks& hooks = {});

/// The same into new arrays.
DensityResult density(const DensityPoints& given, const DensityOptions& options = {},
                      bool with_gradient = false);

} // namespace farfield
