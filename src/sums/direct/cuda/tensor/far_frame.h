// Units in which two tiles of bodies far from each other meet on tensor cores. A body of a tile is kept as
// u = (x − c)/s, with the tile's centre c and a power of two s, |u| ≤ 1. With D = c_J − c_I, the squared
// distance of a row j of tile J and a column i of tile I in units of 1/root², 1 at most for the tiles, is
//   root² r² = N_j + N_i − 2 f u_j·u_i,  f = root² s_J s_I,
//   N_j = root² (|D + s_J u_j|² + ε²),  N_i = root² (|s_I u_i|² − 2 s_I D·u_i).
// Cancellation costs (farthest distance / nearest)² roundings of half precision's split operands (2⁻²⁵):
// hence `far_ratio2`.
#pragma once

#include "math/host_device.h"

#include <cmath>

namespace farfield::cuda {

/// A run of bodies: its box, and the powers of two that bring coordinates and strengths below 1.
struct alignas(16) Tile {
    float low[3];
    float size; ///< s
    float high[3];
    float strength; ///< above every |q|
};

/// Tiles are far where (farthest distance / nearest distance)² of their boxes is at most this.
constexpr float far_ratio2 = 32.0F;

/// What holds for all pairs of two tiles.
struct FarPair {
    float offset[3]; ///< D
    float root;      ///< a power of two
};

/// N of a body: constant + square |u|² + gradient·u; and what its coordinates are multiplied by.
struct FarCoefficients {
    float constant, square, gradient[3], factor;
};

FF_HD inline float power_of_two(int exponent) { return scalbnf(1.0F, exponent); }

/// The power of two s with value/s in [1/2, 1), within what has a reciprocal.
FF_HD inline float size_above(float value) {
    const int exponent = ilogbf(value); // of 0: a large negative number
    return power_of_two(1 + (exponent < -125 ? -125 : exponent > 124 ? 124 : exponent));
}

FF_HD inline float centre(const Tile& tile, int axis) { return 0.5F * (tile.low[axis] + tile.high[axis]); }

struct DistanceRange {
    float nearest2, farthest2;
};
// Every rounding is written out: host and every kernel must agree on which tiles are far.
FF_HD inline DistanceRange distances(const Tile& a, const Tile& b) {
    DistanceRange range{0.0F, 0.0F};
    for (int k = 0; k < 3; ++k) {
        const float gap = fmaxf(a.low[k] - b.high[k], b.low[k] - a.high[k]);
        const float reach = fmaxf(a.high[k] - b.low[k], b.high[k] - a.low[k]);
        if (gap > 0.0F) range.nearest2 = fmaf(gap, gap, range.nearest2);
        range.farthest2 = fmaf(reach, reach, range.farthest2);
    }
    return range;
}

FF_HD inline bool are_far(const Tile& a, const Tile& b) {
    const auto range = distances(a, b);
    return range.farthest2 <= far_ratio2 * range.nearest2; // false for coordinates that are not numbers
}

FF_HD inline FarPair far_pair(const Tile& i, const Tile& j, float softening2) {
    FarPair pair{};
    for (int k = 0; k < 3; ++k) pair.offset[k] = centre(j, k) - centre(i, k);
    const int exponent = ilogbf(distances(i, j).farthest2 + softening2);
    pair.root = power_of_two(-((exponent + 2) >> 1)); // root² (farthest² + ε²) in [1/4, 1)
    return pair;
}

/// Of the bodies of tile J, the rows.
FF_HD inline FarCoefficients row_coefficients(const FarPair& pair, const Tile& i, const Tile& j,
                                              float softening2) {
    const float unit = pair.root * j.size;
    FarCoefficients c{pair.root * softening2 * pair.root, unit * unit, {}, unit * (pair.root * i.size)};
    for (int k = 0; k < 3; ++k) {
        const float d = pair.root * pair.offset[k];
        c.constant = fmaf(d, d, c.constant);
        c.gradient[k] = 2.0F * unit * d;
    }
    return c;
}

/// Of the bodies of tile I, the columns.
FF_HD inline FarCoefficients column_coefficients(const FarPair& pair, const Tile& i) {
    const float unit = pair.root * i.size;
    FarCoefficients c{0.0F, unit * unit, {}, -2.0F};
    for (int k = 0; k < 3; ++k) c.gradient[k] = -2.0F * unit * (pair.root * pair.offset[k]);
    return c;
}

} // namespace farfield::cuda
