// Places along Hilbert's curve through a cube of 2²¹ cells a side. Points that follow each other on it are
// close in space, and unlike along a Z-order without jumps, so that runs of points are compact. Algorithm:
// Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004) 381.
#pragma once

#include "math/host_device.h"

#include <cstdint>

namespace farfield::cuda {

constexpr int hilbert_bits = 21; ///< an axis; three of them make a key of 63 bits

/// Key of the cell (x, y, z), each below 2²¹.
FF_HD inline std::uint64_t hilbert_key(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    constexpr std::uint32_t top = std::uint32_t{1} << (hilbert_bits - 1);
    std::uint32_t axis[3] = {x, y, z};
    // from the largest cubes to the smallest: undo the turn that the curve takes in each
    for (std::uint32_t bit = top; bit > 1; bit >>= 1) {
        const std::uint32_t below = bit - 1;
        for (int k = 0; k < 3; ++k) {
            if ((axis[k] & bit) != 0) {
                axis[0] ^= below;
            } else {
                const std::uint32_t swapped = (axis[0] ^ axis[k]) & below;
                axis[0] ^= swapped;
                axis[k] ^= swapped;
            }
        }
    }
    axis[1] ^= axis[0]; // Gray code
    axis[2] ^= axis[1];
    std::uint32_t flipped = 0;
    for (std::uint32_t bit = top; bit > 1; bit >>= 1)
        if ((axis[2] & bit) != 0) flipped ^= bit - 1;
    std::uint64_t key = 0;
    for (int b = hilbert_bits - 1; b >= 0; --b)
        for (std::uint32_t a : axis) key = key << 1 | (((a ^ flipped) >> b) & 1);
    return key;
}

} // namespace farfield::cuda
