// What sums by clusters are to reach, and what they cost.
#pragma once

namespace farfield {

/// Seconds on one thread.
struct ClusterRates {
    double pair = 1e-9;     ///< of a target and a source
    double term = 1e-10;    ///< of an expansion, at a target
    double moment = 2e-10;  ///< of an expansion, from a source
    double act = 6e-9;      ///< to see what a cluster does to a block
    double distance = 6e-9; ///< while points are clustered
};

struct ClusterAim {
    double tolerance = 1e-6;
    bool relative_to_sum = false; ///< of Σ|q|; otherwise of the largest value
    bool with_gradient = true;
    int vectors = 1;
    double most_seconds = 1e300; ///< of the sum: what takes longer is not worth clustering
    double most_numbers = 1e9;   ///< of all expansions
    bool by_bound = false;       ///< each source's error is within the bound of bound.h, whatever is usual
    ClusterRates rates{};
};

} // namespace farfield
