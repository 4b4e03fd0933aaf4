// What sums by boxes are to reach, and what they cost.
#pragma once

namespace farfield {

/// Seconds on one thread.
struct BoxRates {
    double pair = 1e-9;  ///< of a target and a source
    double term = 1e-10; ///< of an expansion, at a target
    double lanes = 8.0;  ///< targets side by side in the loop over pairs
};

struct BoxAim {
    double tolerance = 1e-6; ///< of an expansion's bound, for a source of strength 1
    double cutoff = 6.0;     ///< in σ
    bool with_gradient = true;
    int vectors = 1;
    double most_numbers = 1e9; ///< of all expansions at a time
    double side = 0.0;         ///< of boxes, in σ; 0: the best of some
    BoxRates rates{};
};

} // namespace farfield
