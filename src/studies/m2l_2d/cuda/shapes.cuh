// How many blocks of our kernels a multiprocessor is to hold at least, which bounds their registers, by 8, 12
// and 16 terms. Found by trial on an H200.
#pragma once

namespace farfield::m2l2d {

constexpr int shape_of(int terms) { return terms / 4 - 2; }
inline constexpr int spread_each_blocks[] = {8, 4, 8};
inline constexpr int spread_orbits_blocks[] = {10, 8, 6};
inline constexpr int gather_each_blocks[] = {6, 6, 8};
inline constexpr int gather_orbits_blocks[] = {4, 4, 3};
inline constexpr int staged_blocks[] = {3, 2, 2};

} // namespace farfield::m2l2d
