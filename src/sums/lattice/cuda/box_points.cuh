// Points of a periodic box on a GPU, as near images and smooth parts take them.
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/lattice/periodic_frame.h"

namespace farfield::cuda {

/// The frame as kernels see it.
struct BoxOnGpu {
    double length[3] = {1.0, 1.0, 1.0};
    double softening = 0.0;
    int exponent = 0;

    BoxOnGpu() = default;
    explicit BoxOnGpu(const PeriodicFrame& frame)
        : length{frame.length[0], frame.length[1], frame.length[2]}, softening(frame.softening),
          exponent(frame.exponent) {}
};

/// Points by their rows; inside the box, in the frame. w means nothing.
struct BoxPoints {
    const Vec4<double>* at = nullptr;
    int count = 0;
};

} // namespace farfield::cuda
