// Differences of coordinates along a periodic axis.
#pragma once

#include "math/host_device.h"

namespace farfield {

/// What brings a difference of less than one and a half periods to that of the nearest images: a period
/// forth or back, or 0. @param period  0: the axis is open
FF_HD inline double to_nearest_image(double apart, double period) {
    return 2.0 * apart > period && period > 0.0    ? -period
           : -2.0 * apart > period && period > 0.0 ? period
                                                   : 0.0;
}

} // namespace farfield
