// Gravity φ = −Σ m/√(r²+ε²) and Coulomb φ = Σ q/√(r²+ε²), field = −∇φ: one formula, two signs. Dipoles p of
// Coulomb's add φ = Σ p·(x − y)/(r²+ε²)^(3/2).
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
        if (source.with_hessian) add_hessian(source, term / r2, r2, out + 4);
        if (source.dipole != nullptr) add_dipole(source, r2, out);
    }

private:
    template <class Real>
    static void add_hessian(const SeenSource<Real>& source, Real weight, Real r2, Real* out) {
        int place = 0;
        for (int i = 0; i < 3; ++i)
            for (int k = i; k < 3; ++k)
                out[place++] +=
                    weight * (Real(3) * source.d[i] * source.d[k] / r2 - (i == k ? Real(1) : Real(0)));
    }

    // φ = p·d/r³ and its derivatives: −∂ᵢφ = (3 (p·d) dᵢ/r² − pᵢ)/r³,
    // ∂ᵢ∂ₖφ = 3 (5 (p·d) dᵢ dₖ/r² − pᵢ dₖ − pₖ dᵢ − (p·d) δᵢₖ)/r⁵.
    template <class Real>
    static void add_dipole(const SeenSource<Real>& source, Real r2, Real* out) {
        const Real* d = source.d;
        Real p[3];
        for (int k = 0; k < 3; ++k) p[k] = Real(sign) * static_cast<Real>(source.dipole[k]);
        const Real along = p[0] * d[0] + p[1] * d[1] + p[2] * d[2];
        const Real r3 = r2 * std::sqrt(r2);
        out[0] += along / r3;
        for (int k = 0; k < 3; ++k) out[1 + k] += (Real(3) * along * d[k] / r2 - p[k]) / r3;
        int place = 4;
        for (int i = 0; i < 3 && source.with_hessian; ++i)
            for (int k = i; k < 3; ++k)
                out[place++] += Real(3) / r3 *
                                ((Real(5) * along * d[i] * d[k] / r2 - p[i] * d[k] - p[k] * d[i] -
                                  (i == k ? along : Real(0))) /
                                 r2); // r⁵ may be too small for a double
    }
};

constexpr std::array inverse_distance_outputs{OutputInfo{Output::potential, OutputShape::value, -1},
                                              OutputInfo{Output::field, OutputShape::vector, -2},
                                              OutputInfo{Output::hessian, OutputShape::matrix, -3, true}};

constexpr KernelInfo kernel_in_space(Kernel value, std::string_view name, std::string_view text,
                                     StrengthInfo strength) {
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
            .needs_sigma = false,
            .has_dipoles = !is_gravity,
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

constexpr KernelInfo gravity = kernel_in_space(Kernel::gravity, "gravity", "Newton's gravity: masses attract",
                                               {.name = "mass", .column = "m"});
constexpr KernelInfo coulomb = kernel_in_space(
    Kernel::coulomb, "coulomb", "Coulomb's force: like charges repel", {.name = "charge", .column = "q"});

} // namespace

const KernelInfo& gravity_kernel() { return gravity; }
const KernelInfo& coulomb_kernel() { return coulomb; }

} // namespace farfield
