// The colours of densities.
#pragma once

#include "io/picture/canvas.h"

namespace farfield::picture {

/// From near black over violet, red and orange to pale yellow, for t in [0, 1] (values outside take the
/// ends). Lightness grows linearly with t, so that equal steps look equal and the map also reads in grey.
Colour density_colour(double t);

} // namespace farfield::picture
