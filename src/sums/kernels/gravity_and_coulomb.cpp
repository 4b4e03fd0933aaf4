// Gravity φ = −Σ m/√(r²+ε²) and Coulomb φ = Σ q/√(r²+ε²), field = −∇φ: one formula, two signs.
#include "sums/kernels/kernel.h"

#include <array>

namespace farfield {
namespace {

// With s the sign and d = x − y, φ = s Σ q/r, −∇φ = s Σ q d/r³ and ∂²φ = s Σ q (3 d dᵀ/r² − 1)/r³.
template <int sign>
struct SignedInverseDistance {
    static constexpr bool acts_on_itself = false;
    static constexpr bool singular = true;

    template <class Real>
    static void add(const SeenSource<Real>& source, Real* out) {
        const Real r2 = source.r2 + source.softening2;
        const Real term = Real(sign) * static_cast<Real>(source.q[0]) / std::sqrt(r2);
        out[0] += term;
        for (int k = 0; k < 3; ++k) out[1 + k] += term / r2 * source.d[k];
        if (!source.with_hessian) return;
        int place = 4;
        for (int i = 0; i < 3; ++i)
            for (int k = i; k < 3; ++k)
                out[place++] +=
                    term / r2 * (Real(3) * source.d[i] * source.d[k] / r2 - (i == k ? Real(1) : Real(0)));
    }
};

constexpr std::array inverse_distance_outputs{OutputInfo{Output::potential, OutputShape::value, -1},
                                              OutputInfo{Output::field, OutputShape::vector, -2},
                                              OutputInfo{Output::hessian, OutputShape::matrix, -3, true}};

constexpr KernelInfo row(Kernel value, std::string_view name, std::string_view text, StrengthInfo strength) {
    const bool is_gravity = value == Kernel::gravity;
    return {.value = value,
            .name = name,
            .text = text,
            .least_dimension = 3,
            .most_dimension = 3,
            .strength = strength,
            .outputs = inverse_distance_outputs,
            .scaling = Scaling::power,
            .acts_on_itself = false,
            .value_on_itself = 0.0,
            .softens = true,
            .has_sigma = false,
            .singular = true,
            .far_field = FarField::harmonic_3d,
            .norm = Norm::l2,
            .loop = PairLoop::inverse_distance,
            .sign = is_gravity ? -1.0 : 1.0,
            .exact = is_gravity ? exact_sum<SignedInverseDistance<-1>, double>
                                : exact_sum<SignedInverseDistance<1>, double>,
            .exact_long = is_gravity ? exact_sum<SignedInverseDistance<-1>, long double>
                                     : exact_sum<SignedInverseDistance<1>, long double>};
}

constexpr KernelInfo gravity =
    row(Kernel::gravity, "gravity", "Newton's gravity: masses attract", {.name = "mass", .column = "m"});
constexpr KernelInfo coulomb =
    row(Kernel::coulomb, "coulomb", "Coulomb's force: like charges repel", {.name = "charge", .column = "q"});

} // namespace

const KernelInfo& gravity_kernel() { return gravity; }
const KernelInfo& coulomb_kernel() { return coulomb; }

} // namespace farfield
