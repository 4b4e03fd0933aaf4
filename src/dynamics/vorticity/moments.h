// What a set of vortices keeps when others take its place: circulation, impulse and angular impulse.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace farfield {

/// Sums of Γ, Γ x, Γ y and Γ (x² + y²).
using VortexMoments = std::array<double, 4>;

/// Of vortices at points N×2, about `centre` and in units of `length`. The same bits on every machine.
VortexMoments moments_of(std::span<const double> points, std::span<const double> circulation,
                         const std::array<double, 2>& centre, double length);

/// Changes circulations by |Γ| (a + b x + c y + d (x² + y²)) so that their moments are `wanted`: the least
/// change in the sum of squares over |Γ|. Moments that the points cannot tell apart, such as those of one
/// vortex, are left as they are.
void set_moments(std::span<const double> points, std::vector<double>& circulation,
                 const std::array<double, 2>& centre, double length, const VortexMoments& wanted);

/// The changes of circulations that change no moment: all that are at right angles to 1, x, y and x² + y².
class MomentSpace {
public:
    MomentSpace(std::span<const double> points, const std::array<double, 2>& centre, double length);
    /// Leaves of `change` what changes no moment.
    void take_out_of(std::vector<double>& change) const;

private:
    std::vector<std::vector<double>> basis_; ///< orthonormal; as many as the points tell apart
};

} // namespace farfield
