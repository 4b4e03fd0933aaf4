// What can be said of a rung of the GPU's ladder without running it: where it branches off, the bytes its
// layout makes it move, and the peaks that the CUDA slides after Burtscher hold a rate against.
#pragma once

#include "studies/sass.h"
#include "sums/direct/cuda/rungs.h"

#include <farfield/sum.h>

#include <cstdint>
#include <optional>

namespace farfield {

/// Flop a pair, the convention of the CUDA Handbook and of the slides ("20c for 20 Flop").
constexpr double flop_a_pair = 20.0;

/// The rung whose code this one changes; none for the first. Side branches: the rung they branch from.
std::optional<cuda::Rung> predecessor(cuda::Rung rung);

/// Directed pairs that one evaluation of 1/r³ serves: 2 where each pair is computed once.
int directions(cuda::Rung rung);

/// Bytes that a sum of the field over n points reads from and writes to memory outside the multiprocessors,
/// as its layout implies, before any cache: a source counts once a warp where all its lanes read the same
/// address, once a block where the block stages it in shared memory; an atomic counts as a read and a write;
/// partial sums count when written and when read again. The slides' figures in GB/s count the same way.
double bytes_moved(cuda::Rung rung, Precision precision, std::int64_t n);

/// The pair loop of a rung (field only) in the disassembly of this program; of several shapes of `symmetric`
/// that of the largest tile, which is used for large N. None where it is not found.
std::optional<LoopCount> pair_loop(const LoopCounts& loops, cuda::Rung rung, Precision precision);

/// A GPU as the slides describe one: processing elements, and what one does a cycle.
struct Lanes {
    double total = 0.0;       ///< single-precision lanes of the whole GPU
    double double_cost = 2.0; ///< cycles of a lane for an operation in double
    double clock_hz = 0.0;
};
/// Single-precision lanes a multiprocessor and the cost of double, by compute capability; NVIDIA's tables.
Lanes lanes_of(int major, int minor, int multiprocessors, double clock_hz);

/// Flop a second at 20 a pair.
struct Peaks {
    double peak = 0.0;              ///< a fused multiply-add a lane and cycle
    double realistic = 0.0;         ///< no operations but those of the formula: 12 of a cycle, a root of 8
    std::optional<double> actual{}; ///< all instructions of the loop as compiled, a special function 8 cycles
};
/// On slide "CC 2.0 Absolute Performance": 1030, 515.2 and 330.45 Gflop/s for 448 lanes of 1.15 GHz and 31
/// cycles. (The formula gives 332.4 for the last; the slide's own figure is 0.6 % below it.)
Peaks peaks(const Lanes& lanes, Precision precision, std::optional<double> cycles_a_pair);

/// Cycles of a lane a directed pair, as the slides count them: special functions 8, double as given, else 1.
double cycles_a_pair(const LoopCount& loop, int directions, double double_cost);

} // namespace farfield
