// The colours of densities and of fields.
#pragma once

#include "io/picture/canvas.h"

namespace farfield::picture {

/// From near black over violet, red and orange to pale yellow, for t in [0, 1] (values outside take the
/// ends). Lightness grows linearly with t, so that equal steps look equal and the map also reads in grey.
Colour density_colour(double t);

/// For values on both sides of 0: from dark blue over near white at t = 0 to dark red, for t in [−1, 1].
Colour signed_colour(double t);

} // namespace farfield::picture
