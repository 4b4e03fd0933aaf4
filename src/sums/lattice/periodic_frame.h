// A periodic box in a frame whose longest side lies between 1 and 2: lengths are the caller's times a power
// of two, so that no square of a distance leaves the range of a double, and points are inside.
#pragma once

#include "base/aligned.h"
#include "sums/method/problem.h"

#include <array>
#include <cstdint>
#include <span>

namespace farfield {

struct PeriodicFrame {
    std::array<double, 3> length{1.0, 1.0, 1.0};
    double softening = 0.0;
    int exponent = 0; ///< lengths of the frame are the caller's times 2^exponent

    explicit PeriodicFrame(const SumProblem& problem);

    [[nodiscard]] double volume() const { return length[0] * length[1] * length[2]; }
    [[nodiscard]] double scale() const;
};

/// Points one coordinate after the other.
using LatticePoints = std::array<RawVector<double>, 3>;

/// The images of N×3 points that lie in the box, 0 ≤ x < length, in the frame; along open axes, whose length
/// is 0, points stay where they are.
LatticePoints wrapped(const PeriodicFrame& frame, std::span<const double> points, int threads);

} // namespace farfield
