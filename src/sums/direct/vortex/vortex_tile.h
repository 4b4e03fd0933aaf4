// What crosses the border to the loop over pairs of vortices, which is compiled once for each instruction
// set.
#pragma once

#include "sums/kernels/loop_outputs.h"
#include "sums/points/tile_points.h"

#include <farfield/sum_options.h>

#include <cstdint>

namespace farfield {

/// Targets [target_begin, target_end) against all sources; z is not looked at. Results are stored, without
/// the factors that the kernel has before its sums; null where not wanted. `target_begin` is a multiple of
/// `point_padding`.
struct VortexTile {
    TilePoints targets;
    TilePoints sources;
    std::int64_t target_begin = 0;
    std::int64_t target_end = 0;
    bool self = false;                        ///< target i is source i: leave that pair out
    double sigma = 0.0;                       ///< of the core; 0: points
    double* logarithm = nullptr;              ///< Σ Γ (ln r² + E₁(r²/2σ²))
    double* velocity[2] = {nullptr, nullptr}; ///< Σ Γ (1 − exp(−r²/2σ²))/r² · (−y, x)
};

extern "C" {
void ff_vortex_scalar(Precision, LoopOutputs, const VortexTile*);
void ff_vortex_sse42(Precision, LoopOutputs, const VortexTile*);
void ff_vortex_avx2(Precision, LoopOutputs, const VortexTile*);
void ff_vortex_avx512(Precision, LoopOutputs, const VortexTile*);
}

} // namespace farfield
