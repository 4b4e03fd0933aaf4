// The row of the kernel of vortex2d.h.
#include "sums/kernels/vortex2d.h"

#include "sums/kernels/kernel.h"

#include <array>

namespace farfield {
namespace {

constexpr double inverse_two_pi = 0.15915494309189533577;

constexpr std::array vortex2d_outputs{OutputInfo{Output::potential, OutputShape::value, 0},
                                      OutputInfo{Output::field, OutputShape::vector, -1}};

constexpr KernelInfo vortex2d{.value = Kernel::vortex2d,
                              .name = "vortex2d",
                              .text = "vortices in the plane: stream function and velocity",
                              .least_dimension = 2,
                              .most_dimension = 2,
                              .strength = {.name = "circulation", .column = "gamma"},
                              .outputs = vortex2d_outputs,
                              .scaling = Scaling::power_and_log,
                              .acts_on_itself = false,
                              .value_on_itself = 0.0,
                              .softens = false,
                              .has_sigma = true,
                              .needs_sigma = false,
                              .has_dipoles = false,
                              .singular = true,
                              .field_is_turned = true,
                              .far_field = FarField::harmonic_2d,
                              .norm = Norm::l2,
                              .loop = PairLoop::vortex,
                              .sign = inverse_two_pi,
                              .exact = exact_sum<Vortex, double>,
                              .exact_long = exact_sum<Vortex, long double>};

} // namespace

const KernelInfo& vortex2d_kernel() { return vortex2d; }

} // namespace farfield
