#include "sums/gauss/grid/window.h"

#include <cmath>
#include <cstddef>

namespace farfield {
namespace {

long double grid_window(const GridRule& rule, long double z) {
    const long double ratio = 2.0L * z / rule.width;
    const long double rest = 1.0L - ratio * ratio;
    return rest > 0.0L ? std::exp(rule.beta * (std::sqrt(rest) - 1.0L)) : 0.0L;
}

/// Coefficients, from the lowest, of the polynomial through values at Chebyshev's points of [−1, 1].
template <class Function>
std::vector<long double> interpolated(int degree, const Function& function) {
    const auto n = static_cast<std::size_t>(degree) + 1;
    std::vector<long double> at(n), difference(n);
    for (std::size_t k = 0; k < n; ++k) {
        at[k] = std::cos(3.14159265358979323846L * (static_cast<long double>(k) + 0.5L) /
                         static_cast<long double>(n));
        difference[k] = function(at[k]);
    }
    for (std::size_t order = 1; order < n; ++order)
        for (std::size_t k = n; k-- > order;)
            difference[k] = (difference[k] - difference[k - 1]) / (at[k] - at[k - order]);
    std::vector<long double> out{difference[n - 1]}; // Newton's form, expanded
    for (std::size_t k = n - 1; k-- > 0;) {
        out.push_back(0.0L);
        for (std::size_t power = out.size(); power-- > 1;) out[power] = out[power - 1] - at[k] * out[power];
        out[0] = difference[k] - at[k] * out[0];
    }
    return out;
}

} // namespace

GridWindow::GridWindow(const GridRule& rule, int beyond_width)
    : width(rule.width), columns((rule.width + 7) / 8 * 8), degree(rule.width + beyond_width) {
    const auto row = static_cast<std::size_t>(columns);
    const auto powers = static_cast<std::size_t>(degree);
    value.assign((powers + 1) * row, 0.0);
    slope.assign(powers * row, 0.0);
    for (std::size_t tap = 0; tap < static_cast<std::size_t>(width); ++tap) {
        const auto c = interpolated(degree, [&](long double u) {
            return grid_window(rule, static_cast<long double>(tap) + 0.5L * (u + 1.0L) - 0.5L * width);
        });
        for (std::size_t power = 0; power <= powers; ++power)
            value[(powers - power) * row + tap] = static_cast<double>(c[power]);
        for (std::size_t power = 1; power <= powers; ++power) // du/dx = −2
            slope[(powers - power) * row + tap] =
                static_cast<double>(-2.0L * static_cast<long double>(power) * c[power]);
    }
}

} // namespace farfield
