// In which order blocks of points meet when each pair of blocks meets once, on any number of threads, with
// the same bits every time.
#pragma once

#include <cstdint>
#include <functional>

namespace farfield {

/// Number of points in a block, from the number of points alone: the results depend on it.
std::int64_t mutual_block_size(std::int64_t points);

/// Calls own(block) for each block and meet(a, b) for each pair of different blocks once, on `threads`
/// threads. Never two calls at a time with the same block; and each block's calls come in a fixed order,
/// first own(block), then its opponents as in a round-robin tournament (the circle method), so whatever the
/// calls add to the block is added in the same order for any number of threads.
void play_tournament(std::int64_t blocks, int threads, const std::function<void(std::int64_t)>& own,
                     const std::function<void(std::int64_t, std::int64_t)>& meet);

} // namespace farfield
