// The best size of boxes, by what some boxes of some points would cost.
#pragma once

#include "sums/gauss/boxes/lattice.h"
#include "sums/gauss/ways/box_aim.h"
#include "sums/gauss/ways/way.h"

namespace farfield {

struct BoxSize {
    double side = 1.0;       ///< in the frame
    int order = 0;           ///< p, 0 for no expansions
    bool translates = false; ///< whether p allows for translations
    double seconds = 0.0;    ///< of a sum, about
};

/// The longest side of a lattice's boxes, in the frame.
double longest_side(const GaussLattice& lattice);

/// p for boxes of that lattice, 0 where none serves.
int order_in(const GaussLattice& lattice, double sigma, const BoxAim& aim, bool translates);

BoxSize best_box_size(const GaussPointSets& points, int dimension, const BoxAim& aim, int threads);

} // namespace farfield
