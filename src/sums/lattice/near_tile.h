// What crosses into the loop over near images, compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace farfield {

/// Sources are padded to whole vectors of any width by images beyond the cut-off.
inline constexpr std::int64_t near_padding = 8;

/// Points whose squared distance is no more than this are at one place: that is 1e-18 of the box's longest
/// side, less than what rounding moves most points by.
inline constexpr double coincident_square = 1e-36;

/// One target and the images around it. *Written*: Σ q erfc(αR)/R over images with r² ≤ cutoff² that
/// do not coincide with the target or are softened, and the negative gradient of that.
struct NearTile {
    const double* source[3] = {};
    const double* strength = nullptr;
    std::int64_t count = 0; ///< a multiple of near_padding
    double target[3] = {};
    double alpha = 1.0;
    double cutoff = 0.0, cutoff2 = 0.0; ///< and its square
    double softening2 = 0.0;
    double sums[4] = {};         ///< potential, and x, y and z of the field
    std::int64_t coincident = 0; ///< images at the target's place without softening, left out
};

} // namespace farfield

/// One for each instruction set (cmake/farfield_isa.cmake).
#define FF_DECLARE_NEAR(isa) extern "C" void ff_near_images_##isa(farfield::NearTile* tile)
FF_DECLARE_NEAR(scalar);
FF_DECLARE_NEAR(sse42);
FF_DECLARE_NEAR(avx2);
FF_DECLARE_NEAR(avx512);
#undef FF_DECLARE_NEAR
