// What the GPU's units do at most, measured in the same run as the sums that are set against it.
#pragma once

#include <vector>

namespace farfield::cuda {

/// One way to keep the FMA pipes busy with registers alone.
struct FmaLoop {
    bool is_double = false;
    /// false: all chains share factor and addend, which then stay in the operand cache; true: each has its
    /// own, so that an FMA reads three registers, as most FMAs of a pair do.
    bool own_operands = false;
    int chains = 8;        ///< independent FMAs of a thread
    int unroll = 16;       ///< chains·unroll FMAs stand between two branches
    int warps = 64;        ///< on a multiprocessor at a time
    double per_second = 0; ///< lane operations, an FMA counts once
};

/// Lane operations a second (one FMA counts once), and bytes a second read plus written.
struct Ceilings {
    double fma_float = 0; ///< the fastest of `fma_loops`
    double fma_double = 0;
    double rsqrt_float = 0;
    double copy_bytes = 0;
    double to_gpu_bytes = 0;  ///< from pinned memory of the host
    double to_host_bytes = 0; ///< into pinned memory
    double clock_hz = 0;      ///< under the load of FMAs
    double most_clock_hz = 0; ///< the clock that the GPU is rated for
    std::vector<FmaLoop> fma_loops;
};

/// On the current device; medians of five. @throws BackendUnavailable, DeviceError.
Ceilings measure_ceilings();

} // namespace farfield::cuda
