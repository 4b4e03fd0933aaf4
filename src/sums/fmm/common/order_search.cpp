#include "sums/fmm/common/order_search.h"

#include <algorithm>

namespace farfield {

std::optional<int> OrderSearch::beyond(double error, double tolerance) {
    const int most_stalls = error <= tolerance ? 0 : 3;
    if (!(error < 0.8 * least_error_) && ++stalls_ > most_stalls) return std::nullopt;
    least_error_ = std::min(error, least_error_);
    return 2 * stalls_;
}

} // namespace farfield
