// Morton keys: the bits of three cell numbers, or of two, side by side, so that cells of any level are runs
// of keys.
#pragma once

#include "math/host_device.h"

#include <cstdint>

namespace farfield {

/// Bits that a key has for each axis.
constexpr int morton_bits = 21;

/// The lowest 21 bits of x, two zeros after each.
FF_HD constexpr std::uint64_t spread_bits(std::uint32_t x) {
    std::uint64_t v = x & 0x1fffff;
    v = (v | v << 32) & 0x1f00000000ffff;
    v = (v | v << 16) & 0x1f0000ff0000ff;
    v = (v | v << 8) & 0x100f00f00f00f00f;
    v = (v | v << 4) & 0x10c30c30c30c30c3;
    return (v | v << 2) & 0x1249249249249249;
}

FF_HD constexpr std::uint64_t morton_key(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return spread_bits(x) | spread_bits(y) << 1 | spread_bits(z) << 2;
}

/// The lowest 21 bits of x, a zero after each.
FF_HD constexpr std::uint64_t spread_bits_in_plane(std::uint32_t x) {
    std::uint64_t v = x & 0x1fffff;
    v = (v | v << 16) & 0x0000ffff0000ffff;
    v = (v | v << 8) & 0x00ff00ff00ff00ff;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0f;
    v = (v | v << 2) & 0x3333333333333333;
    return (v | v << 1) & 0x5555555555555555;
}

FF_HD constexpr std::uint64_t morton_key(std::uint32_t x, std::uint32_t y) {
    return spread_bits_in_plane(x) | spread_bits_in_plane(y) << 1;
}

} // namespace farfield
