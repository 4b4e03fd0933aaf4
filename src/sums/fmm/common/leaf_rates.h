// What the leaves of a tree cost: what ranks are divided by.
#pragma once

namespace farfield {

/// Seconds of one thread.
struct LeafRates {
    double seconds_a_pair = 0.0;  ///< directed
    double seconds_a_cell = 0.0;  ///< all translations to one cell
    double seconds_a_point = 0.0; ///< as a source or a target, in the far field
};

} // namespace farfield
