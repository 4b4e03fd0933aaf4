// What crosses the border between exact_row.cpp and its loops, which are compiled once for each instruction
// set: plain structures over raw pointers.
#pragma once

#include "math/portable/lanes.h"
#include "sums/kernels/exact.h"

#include <cstdint>

namespace farfield {

/// Sources a block has at most: they stay in the first cache while they act on one target after the other.
constexpr std::int64_t exact_block = 512;
/// Sources come in multiples of it; those that fill up have no strength.
constexpr std::int64_t exact_lanes = 8;

enum class ExactFormula : std::uint8_t { inverse_distance, plane_log, gaussian };

/// A block of sources acts on one target. Sums are added to, as pairs of doubles: those of the potential, one
/// a column of the strength (Σ q/r, in the plane Σ q ln r², or Σ q e with e = exp(−r²/2σ²)), then those of
/// the field (Σ q (x − y)/r³, in the plane the parts (ax + by, ay − bx) of Σ (a + ib)(x − y)/r²), or of what
/// is −σ² times the gradient (Σ q e (x − y)).
struct ExactBlock {
    ExactFormula formula = ExactFormula::inverse_distance;
    int dimension = 3; ///< of Gaussians 1 to 6, of 1/r 3, of logarithms 2
    std::int64_t count = 0;
    const double* points[most_dimensions] = {};
    const double* strengths[2] = {nullptr, nullptr}; ///< the second of complex ones only
    double target[most_dimensions] = {};
    double softening2 = 0.0;
    /// Squares of the distances in between which the loop's formula holds; other sources are left out and
    /// listed.
    double nearest2 = 0.0, farthest2 = 0.0;
    double sigma = 0.0;         ///< of Gaussians
    bool with_potential = true; ///< without it, logarithms have none; others have it all the same
    bool in_pairs = false;      ///< computes with twice the digits of a double
    portable::Pair<double> sums[1 + most_dimensions] = {};
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
