#include "sums/gauss/grid/placing.h"

#include <bit>

namespace farfield {

GridAxis grid_axis(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame, std::size_t k) {
    const double spacing = frame.sigma / rule.ratio;
    const auto first = [&](double x) {
        return std::ceil(std::ldexp(x - frame.centre[k], frame.exponent) / spacing - 0.5 * rule.width);
    };
    // one more on either side: loops round otherwise
    const double low = first(extent.low[k]) - 1.0;
    return {static_cast<std::int64_t>(low),
            static_cast<std::int64_t>(first(extent.high[k]) - low) + rule.width + 1};
}

void split_spacing(double spacing, double (&parts)[2]) {
    parts[0] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(spacing) & ~std::uint64_t{0xFFFFFF});
    parts[1] = spacing - parts[0];
}

GridPlacing::GridPlacing(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame,
                         int dimensions)
    : dimension(dimensions), half(0.5 * rule.width), factor(std::ldexp(1.0, frame.exponent)),
      inverse_spacing(rule.ratio / frame.sigma) {
    split_spacing(frame.sigma / rule.ratio, spacing);
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
        const auto axis = grid_axis(rule, extent, frame, k);
        centre[k] = frame.centre[k];
        base[k] = axis.base;
        length[k] = static_cast<std::int32_t>(axis.length);
        last[k] = length[k] - rule.width;
    }
    length[0] = (length[0] + 3) / 4 * 4;
}

} // namespace farfield
