// What the GPU's units do at most, measured in the same run as the sums that are set against it.
#pragma once

namespace farfield::cuda {

/// Lane operations a second (one FMA counts once), and bytes a second read plus written.
struct Ceilings {
    double fma_float = 0;
    double fma_double = 0;
    double rsqrt_float = 0;
    double copy_bytes = 0;
};

Ceilings measure_ceilings();

} // namespace farfield::cuda
