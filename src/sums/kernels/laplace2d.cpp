// The logarithmic kernel of the plane with complex strengths q = a + ib: φ = −Σ q ln r as (re, im), and with
// z = x + iy the field (Re w, −Im w), w = Σ q/(z − z_j), which is −∇ Re φ where strengths are real.
#include "sums/kernels/kernel.h"

#include <array>

namespace farfield {
namespace {

struct Logarithm {
    static constexpr bool acts_on_itself = false;
    static constexpr bool singular = true;

    template <class Real>
    static void add(const SeenSource<Real>& source, Real* out) {
        const Real a = static_cast<Real>(source.q[0]);
        const Real b = static_cast<Real>(source.q[1]);
        const Real log_r = std::log(source.r2) / Real(2);
        out[0] -= a * log_r;
        out[1] -= b * log_r;
        // 1/(x + iy) = (x − iy)/r², so w = (a x + b y + i (b x − a y))/r²
        const Real x = source.d[0];
        const Real y = source.d[1];
        out[2] += (a * x + b * y) / source.r2;
        out[3] -= (b * x - a * y) / source.r2;
    }
};

constexpr std::array outputs{OutputInfo{Output::potential, false, 0}, OutputInfo{Output::field, true, -1}};

constexpr KernelInfo laplace2d{
    .value = Kernel::laplace2d,
    .name = "laplace2d",
    .text = "Laplace's equation in the plane: the logarithm, complex strengths",
    .least_dimension = 2,
    .most_dimension = 2,
    .strength = {.name = "charge", .column = "q", .second_column = "q_imaginary", .columns = 2},
    .outputs = outputs,
    .scaling = Scaling::power_and_log,
    .acts_on_itself = false,
    .value_on_itself = 0.0,
    .softens = false,
    .has_sigma = false,
    .singular = true,
    .far_field = FarField::harmonic_2d,
    .norm = Norm::l2,
    .loop = PairLoop::none,
    .sign = 1.0,
    .exact = exact_sum<Logarithm, double>,
    .exact_long = exact_sum<Logarithm, long double>};

} // namespace

const KernelInfo& laplace2d_kernel() { return laplace2d; }

} // namespace farfield
