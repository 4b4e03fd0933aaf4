// One sum over blocks on a GPU, timed: what bench_blocks_cuda.cpp, which has no CUDA header, asks for.
#pragma once

#include "block_grid.h"

#include <cstddef>
#include <vector>

namespace farfield::cuda {

struct BlocksCase {
    bool is_double = false;
    bool centred = false; ///< points count from the centres of their blocks
    bool mutual = false;
    int warps = 0; ///< 0: as the library chooses
    int runs = 1;
};

struct BlocksTimes {
    std::vector<double> ms; ///< pair kernel and gathering of slots, by events, sorted
    int warps = 0;
    std::size_t items = 0, slot_bytes = 0;
    std::vector<double> sums; ///< N×4: Σ q d/r³, d = x − y, and Σ q/r
};

BlocksTimes measure(const block_grid::Grid& grid, const BlocksCase& bench_case);

} // namespace farfield::cuda
