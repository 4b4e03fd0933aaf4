// Raising orders until a tolerance is kept.
#pragma once

#include <cmath>
#include <optional>

namespace farfield {

/// One order more leaves half the error, about. Single orders may gain nothing.
class OrderSearch {
public:
    /// By how much the order counts as higher than it is, because `error` is no less than before; none where
    /// that was so several times: something else makes the error. Within the tolerance once is enough.
    std::optional<int> beyond(double error, double tolerance);

private:
    double least_error_ = HUGE_VAL; ///< that was told
    int stalls_ = 0;                ///< times that it was no less than before
};

} // namespace farfield
