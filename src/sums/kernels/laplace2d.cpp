// The row of the kernel of laplace2d.h.
#include "sums/kernels/laplace2d.h"

#include "sums/kernels/kernel.h"

#include <array>

namespace farfield {
namespace {

constexpr std::array laplace2d_outputs{OutputInfo{Output::potential, OutputShape::value, 0},
                                       OutputInfo{Output::field, OutputShape::vector, -1}};

constexpr KernelInfo laplace2d{
    .value = Kernel::laplace2d,
    .name = "laplace2d",
    .text = "Laplace's equation in the plane: the logarithm, complex strengths",
    .least_dimension = 2,
    .most_dimension = 2,
    .strength = {.name = "charge", .column = "q", .second_column = "q_imaginary", .columns = 2},
    .outputs = laplace2d_outputs,
    .scaling = Scaling::power_and_log,
    .acts_on_itself = false,
    .value_on_itself = 0.0,
    .softens = false,
    .has_sigma = false,
    .needs_sigma = false,
    .has_dipoles = false,
    .singular = true,
    .far_field = FarField::harmonic_2d,
    .norm = Norm::l2,
    .loop = PairLoop::logarithm,
    .sign = 1.0,
    .exact = exact_sum<Logarithm, double>,
    .exact_long = exact_sum<Logarithm, long double>};

} // namespace

const KernelInfo& laplace2d_kernel() { return laplace2d; }

} // namespace farfield
