// Which loop over blocks computes which pairs.
#pragma once

#include "sums/direct/cpu/tiles.h"
#include "sums/kernels/kernel.h"

#include <farfield/sum_options.h>

namespace farfield {

/// @param sigma  of the cores of vortices; 0: points @param isa  resolved
BlockFunction block_function(PairLoop loop, double sigma, Isa isa);

} // namespace farfield
