// What crosses into the loops over pairs of Gaussians, compiled once for each instruction set: raw pointers,
// structure of arrays, any dimension.
#pragma once

#include "sums/kernels/exact.h"
#include "sums/points/block_lists.h"

#include <farfield/sum_options.h>

#include <cstdint>

namespace farfield {

/// Vectors of strengths that a loop takes at once: each pair's exponential serves all of them.
inline constexpr int gauss_vectors_at_once = 4;

/// Arrays of float or double by the precision of the sum, each padded by `gauss_padding` numbers.
struct GaussTilePoints {
    const void* high[most_dimensions] = {};
    const void* low[most_dimensions] = {}; ///< what rounding took off them; precision `mixed` only
};

inline constexpr std::int64_t gauss_padding = 64;

/// Targets against some ranges of sources: Σ q e^(−r²/2σ²) and its gradient, *added*.
struct GaussTile {
    int dimension = 1;
    int vectors = 1; ///< 1, or `gauss_vectors_at_once`
    GaussTilePoints targets, sources;
    BlockRange block{}; ///< of targets
    const BlockRange* ranges = nullptr;
    std::int64_t range_count = 0;
    bool without_own = false; ///< targets are the sources, and a point does not count itself
    double sigma = 1.0;
    const void* strengths[gauss_vectors_at_once] = {}; ///< null: a vector that there is not
    double* potential[gauss_vectors_at_once] = {};     ///< null: not wanted
    double* gradient[gauss_vectors_at_once][most_dimensions] = {};
};

} // namespace farfield

/// One for each instruction set (cmake/farfield_isa.cmake). @pre `precision` is not `automatic`
#define FF_DECLARE_GAUSS(isa)                                                                                \
    extern "C" void ff_gauss_##isa(farfield::Precision precision, bool gradient,                             \
                                   const farfield::GaussTile* tile)
FF_DECLARE_GAUSS(scalar);
FF_DECLARE_GAUSS(sse42);
FF_DECLARE_GAUSS(avx2);
FF_DECLARE_GAUSS(avx512);
#undef FF_DECLARE_GAUSS
