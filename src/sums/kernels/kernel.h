// What tells one pair interaction from another. Gravity and Coulomb share the formula of inverse_distance.h:
// they differ by the sign and by what a strength means.
#pragma once

#include <farfield/sum.h>

#include <string_view>

namespace farfield {

struct KernelDescriptor {
    double sign;               ///< φ = sign · Σ q/r, field = −∇φ = sign · Σ q (x − y)/r³
    std::string_view strength; ///< what q is
};

constexpr KernelDescriptor descriptor(Kernel kernel) {
    return kernel == Kernel::gravity ? KernelDescriptor{-1.0, "mass"} : KernelDescriptor{1.0, "charge"};
}

} // namespace farfield
