// Options of executors, which the printers of code read as well.
#pragma once

#include <farfield/device.h>

#include <array>
#include <cstdint>

namespace farfield::stencil {

/// How a kernel leaves cells outside its subdomain unchanged. The results are the same bits with every
/// choice but `multiply`, whose sums with 0 keep neither the sign of a zero nor an infinity or NaN apart: a
/// target that is given it has the bits of the interpreter that is given it.
enum class Mask : std::uint8_t {
    automatic, ///< the target chooses, by what was measured on it
    none,      ///< evaluates the condition in each cell of the bounding box
    select,    ///< loads each cell of the box, chooses the old or new value by an array of 0 and 1, and
               ///< stores it
    branch,    ///< tests a byte for each cell of the box
    spans,     ///< visits only the cells of the subdomain
    /// Stores m·e + (1 − m)·u in each cell of the box: m, 0 or 1, is loaded in the precision of the field, e
    /// is the new value and u the old one. Nothing chooses it unasked. Where the subdomain is a box, its
    /// cells are visited without a mask.
    multiply
};

struct ExecutorOptions {
    Mask mask = Mask::automatic;
    int threads = 0;                    ///< of the CPU; 0: all
    int device = 0;                     ///< number of the GPU
    MpiGpu mpi_gpu = MpiGpu::automatic; ///< with ranks on GPUs
    int time_tile = 0;                  ///< steps in one pass over memory; 0: the target chooses
    /// Cells along the axes of the grid that are worked on together; 0: the target chooses.
    /// The target `cuda` takes them as the size of a tile or, if it does not fuse kernels, as the threads of
    /// a block. The target `cpu` reads the last axis only: a kernel does so many rows (in 3D: planes) before
    /// the next kernel follows.
    std::array<int, 3> block = {};
    bool fuse = true; ///< the target may run several kernels in one pass
};

} // namespace farfield::stencil
