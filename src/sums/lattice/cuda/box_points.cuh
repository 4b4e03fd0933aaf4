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

/// Points whose sums are wanted.
struct BoxTargets {
    BoxPoints points;
    /// Where they are sources, the row of the first among these: `points` are that one and those behind it.
    int first_source = not_sources;
    int of_all_ranks = 0; ///< how many there are

    static constexpr int not_sources = -1;
    [[nodiscard]] bool are_sources() const { return first_source != not_sources; }
    [[nodiscard]] bool are_all_sources() const { return are_sources() && points.count == of_all_ranks; }
};

} // namespace farfield::cuda
