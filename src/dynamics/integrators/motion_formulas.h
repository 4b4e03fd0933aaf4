// The arithmetic of a step, for the CPU and for kernels on GPUs: the same operations in the same order,
// products rounded before they are added, so that both take the same step from the same accelerations.
#pragma once

#include "math/host_device.h"

namespace farfield {

/// y + h·x: a kick (y velocity, x acceleration) or a drift (y position, x velocity). Never fused.
FF_HD inline double add_scaled(double y, double h, double x) {
#if defined(__CUDA_ARCH__)
    return __dadd_rn(y, __dmul_rn(h, x));
#else
    return y + h * x;
#endif
}

/// The leapfrogs that a step of yoshida4 is made of: outer, inner, outer (see yoshida4.cpp).
constexpr double yoshida_outer = 1.3512071919596578;
constexpr double yoshida_inner = -1.7024143839193153;

/// Powers of two that take a sum back from the frame of the points, in two steps, as one alone may overflow.
struct Unscale {
    double first = 1.0;
    double second = 1.0;
};

/// Acceleration from a component of the field's sum as the loops leave it. `factor` is G times the sign of
/// the kernel, for charges also times q/m.
FF_HD inline double acceleration_of(double sum, const Unscale& unscale, double factor) {
    return sum * unscale.first * unscale.second * factor;
}

/// A coordinate in the frame of the points, still in double.
FF_HD inline double in_frame(double x, double origin, double scale) { return (x - origin) * scale; }

} // namespace farfield
