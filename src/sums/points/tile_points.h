// Points as loops compiled for several instruction sets take them: raw pointers, structure of arrays.
#pragma once

#include <cstdint>

namespace farfield {

/// Prepared points, arrays of float or double by the precision of the sum. Each array is padded to a multiple
/// of `point_padding` with far-away points of zero strength, and 64-byte aligned.
struct TilePoints {
    const void* high[3] = {nullptr, nullptr, nullptr}; ///< x, y, z
    const void* low[3] = {nullptr, nullptr, nullptr}; ///< what rounding took off them; precision `mixed` only
    const void* strength = nullptr;
    const void* strength_imaginary = nullptr;            ///< of complex strengths; null where they are real
    const void* dipole[3] = {nullptr, nullptr, nullptr}; ///< null where sources have none
    std::int64_t count = 0;                              ///< without the padding
};

inline constexpr std::int64_t point_padding = 64;

} // namespace farfield
