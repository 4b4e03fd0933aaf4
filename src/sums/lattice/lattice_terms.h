// What a sum over a periodic box has beside near images and waves: what a point would do to itself, the
// uniform background, and the surface of a sphere of images in vacuum.
#pragma once

#include "sums/lattice/near_sum.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace farfield {

/// Σ q, compensated (Neumaier 1974), and Σ |q|.
struct TotalStrength {
    double sum = 0.0, magnitude = 0.0;
};
TotalStrength total_strength(std::span<const double> strengths);

/// Of Σ |q|: how far Σ q may be from 0.
inline constexpr double neutral_to = 1e-10;

/// @throws InvalidArgument for strengths that do not sum to 0, unless there is a background.
void require_neutral(const SumProblem& problem, const TotalStrength& total);

/// Why a method of periodic boxes does not sum this; empty where it does.
std::string why_no_lattice_sum(std::string_view method, const SumProblem& problem, const SumOptions& options,
                               const DeviceChoice& device);

/// The smallest tolerance that is promised: wave phases leave no more digits.
inline constexpr double least_lattice_tolerance = 1e-12;

struct LatticeTerms {
    PeriodicFrame frame;
    Splitting splitting;
    Boundary boundary = Boundary::tin_foil;
    Coincident coincident = Coincident::error;
    bool self = true; ///< for messages

    /// Takes from the targets what waves let points at their place do to them (`own` as NearSum::set_points
    /// has it), and what a background takes away.
    /// @throws InvalidArgument naming the first coincident pair, unless such pairs are left out.
    void add(std::span<const double> strengths, std::span<const std::int64_t> own,
             std::span<const NearSum::Coincidence> coincidences, std::int64_t targets,
             const LatticeResults& results) const;

    /// −(2π/3V) Σ q |x − y|² and its negative gradient −(4π/3V) M, of points as the caller gave them, in the
    /// frame's unit: the sphere of images in vacuum (de Leeuw, Perram & Smith 1980). @pre Σ q = 0
    void add_vacuum(std::span<const double> sources, std::span<const double> targets,
                    std::span<const double> strengths, const LatticeResults& results) const;
};

} // namespace farfield
