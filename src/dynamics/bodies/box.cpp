#include "dynamics/bodies/box.h"

#include <cstddef>

namespace farfield {

void wrap(std::vector<double>& position, const std::array<double, 3>& period) {
    if (!is_periodic(period)) return;
    for (std::size_t i = 0; i < position.size(); i += 3)
        for (std::size_t k = 0; k < 3; ++k)
            if (period[k] > 0.0) position[i + k] = wrapped(position[i + k], period[k]);
}

} // namespace farfield
