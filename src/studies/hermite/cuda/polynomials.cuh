// Hermite polynomials in constant memory, a copy for each file of kernels.
#pragma once

#include "studies/hermite/series.h"

namespace farfield::hermite {

template <int p>
static __constant__ Polynomials<p> hermite_polynomials{};

} // namespace farfield::hermite
