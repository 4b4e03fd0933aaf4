// Options of executors, which the printers of code read as well.
#pragma once

#include <array>
#include <cstdint>

namespace farfield::stencil {

/// How a kernel leaves cells outside its subdomain unchanged. The results are the same bits with every
/// choice.
enum class Mask : std::uint8_t {
    automatic, ///< the target chooses, by what was measured on it
    none,      ///< evaluates the condition in each cell of the bounding box
    multiply, ///< loads each cell of the box, chooses the old or new value by an array of 0 and 1, and stores
              ///< it
    branch,   ///< tests a byte for each cell of the box
    spans     ///< visits only the cells of the subdomain
};

struct ExecutorOptions {
    Mask mask = Mask::automatic;
    int threads = 0;   ///< of the CPU; 0: all
    int device = 0;    ///< number of the GPU
    int time_tile = 0; ///< steps in one pass over memory; 0: the target chooses
    /// Cells along the axes of the grid that are worked on together; 0: the target chooses.
    /// The target `cuda` takes them as the size of a tile or, if it does not fuse kernels, as the threads of
    /// a block. The target `cpu` reads the last axis only: a kernel does so many rows (in 3D: planes) before
    /// the next kernel follows.
    std::array<int, 3> block = {};
    bool fuse = true; ///< the target may run several kernels in one pass
};

} // namespace farfield::stencil
