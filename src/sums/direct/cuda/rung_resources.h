// What the pair kernel of a rung takes of a multiprocessor, and what bounds the blocks that fit into one. The
// formula is host code; the kernels' own figures come from CUDA. No CUDA header.
#pragma once

#include "sums/direct/cuda/rungs.h"

#include <string_view>

namespace farfield::cuda {

/// Of the kernel that sums the field with softening, at many points.
struct RungResources {
    int registers = 0;    ///< a thread
    int shared_bytes = 0; ///< a block, static and dynamic
    int local_bytes = 0;  ///< a thread: what did not fit into registers
    int threads = 0;      ///< a block
    int blocks = 0;       ///< on a multiprocessor at a time, as CUDA tells
};

/// What a multiprocessor has.
struct MultiprocessorLimits {
    int threads = 0;
    int blocks = 0;
    int registers = 0;
    int shared_bytes = 0;
    int reserved_shared_bytes = 0; ///< of each block, for the system
};

/// Blocks that would fit if only one thing were scarce.
struct BlocksThatFit {
    int by_threads = 0, by_blocks = 0, by_registers = 0, by_shared = 0;

    [[nodiscard]] int all() const;
    /// "threads", "blocks", "registers" or "shared memory"; of equals the first.
    [[nodiscard]] std::string_view limit() const;
};

/// NVIDIA's occupancy calculator for compute capability 3.0 and later: registers go to a warp in units of
/// 256, warps to four schedulers evenly, shared memory in units of 128 bytes.
BlocksThatFit blocks_that_fit(const RungResources& kernel, const MultiprocessorLimits& limits);

/// Threads of `kernel.blocks` blocks over those a multiprocessor holds.
double occupancy(const RungResources& kernel, const MultiprocessorLimits& limits);

/// On the current device. @throws BackendUnavailable without CUDA; InvalidArgument for a rung without the
/// precision; DeviceError.
RungResources rung_resources(Rung rung, Precision precision);
MultiprocessorLimits multiprocessor_limits();

} // namespace farfield::cuda
