// Points that make uneven trees.
#pragma once

#include <cmath>
#include <random>
#include <vector>

namespace farfield::test {

/// Points that are dense in one corner, as x y z each.
inline std::vector<double> cloud(int n, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::vector<double> out;
    for (int i = 0; i < n; ++i) {
        const double scale = std::pow(10.0, -2.0 * uniform(engine));
        for (int axis = 0; axis < 3; ++axis) out.push_back(scale * uniform(engine));
    }
    return out;
}

} // namespace farfield::test
