// The Gaussian in 1 to 6 dimensions: φ = Σ q exp(−r²/(2σ²)), a point counting itself, and its gradient
// ∇φ = −Σ q (x − y)/σ² exp(−r²/(2σ²)).
#include "sums/kernels/kernel.h"

#include <array>

namespace farfield {
namespace {

struct Gaussian {
    static constexpr bool acts_on_itself = true;
    static constexpr bool singular = false;

    template <class Real>
    static void add(const SeenSource<Real>& source, Real* out) {
        const Real variance = source.sigma * source.sigma;
        const Real term = static_cast<Real>(source.q[0]) * std::exp(-source.r2 / (Real(2) * variance));
        out[0] += term;
        for (int k = 0; k < source.dimension; ++k) out[1 + k] -= term / variance * source.d[k];
    }
};

constexpr std::array outputs{OutputInfo{Output::potential, false, 0}, OutputInfo{Output::gradient, true, 0}};

constexpr KernelInfo gauss{.value = Kernel::gauss,
                           .name = "gauss",
                           .text = "Gaussians of width σ, in 1 to 6 dimensions",
                           .least_dimension = 1,
                           .most_dimension = most_dimensions,
                           .strength = {.name = "weight", .column = "q"},
                           .outputs = outputs,
                           .scaling = Scaling::own_lengths,
                           .acts_on_itself = true,
                           .value_on_itself = 1.0,
                           .softens = false,
                           .has_sigma = true,
                           .singular = false,
                           .far_field = FarField::hermite,
                           .norm = Norm::largest,
                           .loop = PairLoop::none,
                           .sign = 1.0,
                           .exact = exact_sum<Gaussian, double>,
                           .exact_long = exact_sum<Gaussian, long double>};

} // namespace

const KernelInfo& gauss_kernel() { return gauss; }

} // namespace farfield
