// What crosses the border between exact_row.cpp and its loops, which are compiled once for each instruction
// set: plain structures over raw pointers.
#pragma once

#include "math/portable/lanes.h"

#include <cstdint>

namespace farfield {

/// Sources a block has at most: they stay in the first cache while they act on one target after the other.
constexpr std::int64_t exact_block = 512;
/// Sources come in multiples of it; those that fill up have no strength.
constexpr std::int64_t exact_lanes = 8;

/// A block of sources acts on one target. Sums are added to, as pairs of doubles: those of the potential, one
/// a column of the strength (Σ q/r, in the plane Σ q ln r²), then those of the field (Σ q (x − y)/r³, in the
/// plane the parts (ax + by, ay − bx) of Σ (a + ib)(x − y)/r²).
struct ExactBlock {
    std::int64_t count = 0;
    const double* points[3] = {nullptr, nullptr, nullptr};
    const double* strengths[2] = {nullptr, nullptr}; ///< the second of complex ones only
    double target[3] = {0.0, 0.0, 0.0};
    double softening2 = 0.0;
    /// Squares of the distances in between which the loop's formula holds; other sources are left out and
    /// listed.
    double nearest2 = 0.0, farthest2 = 0.0;
    bool in_plane = false;
    bool with_potential = true; ///< always in space
    bool in_pairs = false;      ///< computes with twice the digits of a double
    portable::Pair<double> sums[4] = {};
    std::int64_t left_out = 0;
    std::int32_t left[exact_block] = {}; ///< their numbers
};

using ExactBlockFunction = void (*)(ExactBlock*);

extern "C" {
void ff_exact_block_scalar(ExactBlock*);
void ff_exact_block_sse42(ExactBlock*);
void ff_exact_block_avx2(ExactBlock*);
void ff_exact_block_avx512(ExactBlock*);
}

} // namespace farfield
