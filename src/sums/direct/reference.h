// The direct sum written to be checked by hand: one loop over targets, one over sources, double precision.
#pragma once

#include <farfield/sum.h>

#include <cstdint>

namespace farfield {

/// A sum over contiguous double arrays. Absent outputs are null.
struct DirectTask {
    Kernel kernel = Kernel::gravity;
    std::int64_t sources = 0;
    std::int64_t targets = 0;
    const double* source_points = nullptr; ///< N×3
    const double* strengths = nullptr;     ///< N
    const double* target_points = nullptr; ///< M×3
    bool self = false;                     ///< targets are the sources: skip i = j
    double softening = 0.0;
    double* potential = nullptr; ///< M
    double* field = nullptr;     ///< M×3
};

/// Sources in index order; nothing else. Coincident unsoftened pairs give infinities or NaN.
void reference_direct_sum(const DirectTask& task);

} // namespace farfield
