// What a simulation remembers of the times at which its vortices were placed anew: part of its state.
#pragma once

#include <cstdint>

namespace farfield {

struct Reinitialisations {
    std::uint64_t count = 0;
    // Of the last one:
    double residual = 0.0;        ///< of the vorticity at the sites, relative, in the L2 norm
    double vorticity_error = 0.0; ///< the same in the middle between four sites, where it is largest
    std::int64_t iterations = 0;
    // Of all:
    double largest_residual = 0.0;
    double largest_vorticity_error = 0.0;
    std::int64_t most_iterations = 0;
    double predicted_bytes = 0.0; ///< of memory, the most
};

} // namespace farfield
