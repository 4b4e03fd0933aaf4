// Points for the tests of second derivatives and dipoles.
#pragma once

#include "oracle/direct/oracle.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <cmath>
#include <span>
#include <vector>

namespace farfield::test {

inline ConstArrayView points_of(const std::vector<double>& xyz) {
    return matrix_view(std::span<const double>(xyz), 3);
}
inline ConstArrayView charges_of(const oracle::Points& points) { return {std::span<const double>(points.q)}; }

/// Charges of both signs in place of equal masses.
inline oracle::Points with_signs(oracle::Points points) {
    const double n = static_cast<double>(points.q.size());
    for (std::size_t i = 0; i < points.q.size(); ++i)
        points.q[i] *= n * (i % 3 == 0 ? -1.0 : 0.75) * (1.0 + 0.25 * std::sin(static_cast<double>(i)));
    return points;
}

/// In the cube [−1, 1]³.
inline oracle::Points charges(int n, std::uint64_t seed) { return with_signs(oracle::uniform_cube(n, seed)); }

} // namespace farfield::test
