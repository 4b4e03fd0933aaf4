// The same M2L (the sequential inner loop, double) with its arrays in managed and in explicit memory, from
// arrays of the host to µ on the host: the slides praise the "fairly fast start possible due to unified
// memory".
#pragma once

#include "studies/fmm_strategies/problem.h"

#include <string>
#include <vector>

namespace farfield::strategies {

struct MemoryTime {
    std::string what;
    double milliseconds = 0; ///< by the clock, median: all of in, kernels and out
    double kernels = 0;      ///< of them the kernels, by events
    std::vector<Moment> mu;
};

/// Explicit copies from plain memory and from pinned memory, managed memory, and managed memory that is told
/// where it goes. On the current GPU.
std::vector<MemoryTime> measure_memory_kinds(const Problem& problem, int repeats);

} // namespace farfield::strategies
