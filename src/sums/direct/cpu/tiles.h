// What crosses the border between the library (baseline instructions) and the pair loops compiled once for
// each instruction set: plain structures and C functions over raw pointers, ff_<what>_<isa>.
#pragma once

#include "sums/kernels/loop_outputs.h"
#include "sums/points/block_lists.h"
#include "sums/points/tile_points.h"

#include <farfield/sum_options.h>

#include <cstdint>

namespace farfield {

/// Sums where the results go: Σ q/r, the components of Σ q (x − y)/r³ and of ∂² Σ q/r (xx, xy, xz, yy, yz,
/// zz), no sign of a kernel. In the plane Σ q ln r and the components of Σ q (x − y)/r². Null where not
/// wanted.
struct TileSums {
    double* potential = nullptr;
    double* field[3] = {nullptr, nullptr, nullptr};
    double* hessian[6] = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    double* potential_imaginary = nullptr; ///< in the plane, of complex strengths
};

/// Targets [target_begin, target_end) against sources [source_begin, source_end); results are stored.
/// `target_begin` is a multiple of `point_padding`.
struct OneSidedTile {
    TilePoints targets;
    TilePoints sources;
    std::int64_t target_begin = 0;
    std::int64_t target_end = 0;
    std::int64_t source_begin = 0;
    std::int64_t source_end = 0;
    bool self = false; ///< target i is source i: leave that pair out
    double softening2 = 0.0;
    TileSums sums;
};

/// All pairs of points i in [i_begin, i_end) and j in [j_begin, j_end), two ranges without a common point,
/// each pair computed once; results are *added* for i and for j. Both begins are multiples of
/// `point_padding`, and i_end − i_begin ≤ mutual_block.
struct MutualTile {
    TilePoints points;
    std::int64_t i_begin = 0;
    std::int64_t i_end = 0;
    std::int64_t j_begin = 0;
    std::int64_t j_end = 0;
    double softening2 = 0.0;
    TileSums sums;
};

inline constexpr std::int64_t mutual_block = 512;

/// Field and jerk of targets [target_begin, target_end) from all points but themselves, in double;
/// `target_begin` is a multiple of `point_padding`. Sums are stored.
struct JerkTile {
    TilePoints points;
    const double* velocity[3] = {nullptr, nullptr, nullptr}; ///< padded like the points
    std::int64_t target_begin = 0;
    std::int64_t target_end = 0;
    double softening2 = 0.0;
    double* potential = nullptr;
    double* field[3] = {nullptr, nullptr, nullptr};
    double* jerk[3] = {nullptr, nullptr, nullptr};
};

/// Sources of a block, and where a mutual sum adds what they get.
struct BlockSource {
    BlockRange range;
    bool apart = false;          ///< in `sums_apart`, not in `sums`
    std::int64_t sums_begin = 0; ///< place of the range's first point there
};

/// A block of targets with all its sources. Sums are *added*, in a mutual loop to the sources' as well.
/// Targets may start anywhere, but the arrays reach as far as TilePoints says.
struct BlockTile {
    TilePoints targets; ///< with strengths if mutual
    TilePoints sources;
    BlockRange block{};
    const BlockSource* sources_of_block = nullptr;
    std::int64_t source_count = 0; ///< of ranges
    bool own = false;              ///< the first source is the block itself: no point acts on itself
    bool mutual = false;
    double softening2 = 0.0;
    double sigma = 0.0; ///< of vortices with a core
    TileSums sums{};
    TileSums sums_apart{};
};

/// The loop for all that is rare: BlockTile, never mutual, with the sums that are not null.
inline bool needs_whole_loop(LoopOutputs outputs, const TilePoints& sources) {
    return (outputs & hessian_too) != 0 || sources.dipole[0] != nullptr;
}
using WholeFunction = void (*)(Precision, const BlockTile*);
using BlockFunction = void (*)(Precision, LoopOutputs, const BlockTile*);
using OneSidedFunction = void (*)(Precision, LoopOutputs, const OneSidedTile*);
using MutualFunction = void (*)(Precision, LoopOutputs, const MutualTile*);

extern "C" {
void ff_whole_scalar(Precision, const BlockTile*);
void ff_whole_sse42(Precision, const BlockTile*);
void ff_whole_avx2(Precision, const BlockTile*);
void ff_whole_avx512(Precision, const BlockTile*);
void ff_block_scalar(Precision, LoopOutputs, const BlockTile*);
void ff_block_sse42(Precision, LoopOutputs, const BlockTile*);
void ff_block_avx2(Precision, LoopOutputs, const BlockTile*);
void ff_block_avx512(Precision, LoopOutputs, const BlockTile*);
void ff_plane_block_scalar(Precision, LoopOutputs, const BlockTile*);
void ff_plane_block_sse42(Precision, LoopOutputs, const BlockTile*);
void ff_plane_block_avx2(Precision, LoopOutputs, const BlockTile*);
void ff_plane_block_avx512(Precision, LoopOutputs, const BlockTile*);
void ff_vortex_block_scalar(Precision, LoopOutputs, const BlockTile*);
void ff_vortex_block_sse42(Precision, LoopOutputs, const BlockTile*);
void ff_vortex_block_avx2(Precision, LoopOutputs, const BlockTile*);
void ff_vortex_block_avx512(Precision, LoopOutputs, const BlockTile*);
void ff_one_sided_scalar(Precision, LoopOutputs, const OneSidedTile*);
void ff_one_sided_sse42(Precision, LoopOutputs, const OneSidedTile*);
void ff_one_sided_avx2(Precision, LoopOutputs, const OneSidedTile*);
void ff_one_sided_avx512(Precision, LoopOutputs, const OneSidedTile*);
void ff_jerk_scalar(const JerkTile*);
void ff_jerk_sse42(const JerkTile*);
void ff_jerk_avx2(const JerkTile*);
void ff_jerk_avx512(const JerkTile*);
void ff_mutual_scalar(Precision, LoopOutputs, const MutualTile*);
void ff_mutual_sse42(Precision, LoopOutputs, const MutualTile*);
void ff_mutual_avx2(Precision, LoopOutputs, const MutualTile*);
void ff_mutual_avx512(Precision, LoopOutputs, const MutualTile*);
}

} // namespace farfield
