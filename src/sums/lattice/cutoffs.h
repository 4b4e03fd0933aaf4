// Where near images and waves are cut off so that a sum keeps a tolerance, and which split between them ends
// first.
#pragma once

#include "sums/lattice/periodic_frame.h"
#include "sums/lattice/splitting.h"

#include <functional>

namespace farfield {

struct Cutoffs {
    Splitting splitting;
    double near = 0.0; ///< of r
    double wave = 0.0; ///< of k
};

/// The cut-offs of that α for relative errors of about `goal`, by the estimates of Kolafa & Perram, "Cutoff
/// errors in the Ewald summation formulae for point charge systems" (1992), for fields and potentials of
/// strengths of any sign at random. Errors are relative to what evenly spread charges of that many have:
/// √⟨q²⟩/a² and √⟨q²⟩/a with a = (V/N)^⅓, of softened ones the less √(a/ε) of it.
Cutoffs cutoffs_for(const PeriodicFrame& frame, double sources, double alpha, double goal);

/// Those of the α of least `seconds`.
Cutoffs best_cutoffs(const PeriodicFrame& frame, double sources, double goal,
                     const std::function<double(const Cutoffs&)>& seconds);

/// Images within the cut-off of a point, about, as many as are looked at.
double near_images(const PeriodicFrame& frame, double sources, const Cutoffs& cutoffs);

} // namespace farfield
