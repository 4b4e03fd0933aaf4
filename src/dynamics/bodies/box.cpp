#include "dynamics/bodies/box.h"

#include <cmath>
#include <cstddef>

namespace farfield {

double wrapped(double x, double length) {
    if (x >= 0.0 && x < length) return x;
    const double rest = std::fmod(x, length); // exact, and of the sign of x
    if (rest >= 0.0) return rest + 0.0;       // not −0
    const double inside = rest + length;
    return inside < length ? inside : 0.0; // a rounding below 0
}

void wrap(std::vector<double>& position, const std::array<double, 3>& period) {
    if (!is_periodic(period)) return;
    for (std::size_t i = 0; i < position.size(); i += 3)
        for (std::size_t k = 0; k < 3; ++k)
            if (period[k] > 0.0) position[i + k] = wrapped(position[i + k], period[k]);
}

} // namespace farfield
