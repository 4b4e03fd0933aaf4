// The row of the kernel of gauss.h.
#include "sums/kernels/gauss.h"

#include "sums/kernels/kernel.h"

#include <array>

namespace farfield {
namespace {

constexpr std::array gauss_outputs{OutputInfo{Output::potential, OutputShape::value, 0},
                                   OutputInfo{Output::gradient, OutputShape::vector, 0}};

constexpr KernelInfo gauss{.value = Kernel::gauss,
                           .name = "gauss",
                           .text = "Gaussians of width σ, in 1 to 6 dimensions",
                           .least_dimension = 1,
                           .most_dimension = most_dimensions,
                           .strength = {.name = "weight", .column = "q"},
                           .outputs = gauss_outputs,
                           .scaling = Scaling::own_lengths,
                           .acts_on_itself = true,
                           .value_on_itself = 1.0,
                           .softens = false,
                           .has_sigma = true,
                           .needs_sigma = true,
                           .has_dipoles = false,
                           .singular = false,
                           .far_field = FarField::hermite,
                           .norm = Norm::largest,
                           .loop = PairLoop::gauss,
                           .sign = 1.0,
                           .exact = exact_sum<Gaussian, double>,
                           .exact_long = exact_sum<Gaussian, long double>};

} // namespace

const KernelInfo& gauss_kernel() { return gauss; }

} // namespace farfield
