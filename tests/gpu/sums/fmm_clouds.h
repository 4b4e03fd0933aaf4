// Points and charges of tests of fast multipole sums on a GPU.
#pragma once

#include "sums/points/prepared.h"
#include "unit/sums/views.h"

#include <farfield/sum.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <random>

namespace farfield::test {

enum class Cloud { cube, clustered, sphere, line, apart, plummer };
inline Values cloud(Cloud kind, int n, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::normal_distribution<double> normal;
    Values out;
    for (int i = 0; i < n; ++i) {
        double x[3] = {uniform(engine), uniform(engine), uniform(engine)};
        if (kind == Cloud::clustered || kind == Cloud::sphere) {
            for (auto& v : x) v = normal(engine);
            const double r = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            const double to = kind == Cloud::sphere ? 1.0 : std::pow(10.0, -4.0 * uniform(engine));
            for (auto& v : x) v *= to / r;
        }
        if (kind == Cloud::plummer) {
            const double r = 1.0 / std::sqrt(std::pow(0.001 + 0.998 * uniform(engine), -2.0 / 3.0) - 1.0);
            for (auto& v : x) v = normal(engine);
            const double length = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            for (auto& v : x) v *= r / length;
        }
        if (kind == Cloud::line) x[1] = x[2] = 0.25;
        if (kind == Cloud::apart) x[0] = 1e-3 * x[0] + (i % 2 == 0 ? 0.0 : 50.0);
        out.insert(out.end(), x, x + 3);
    }
    return out;
}

inline Values charges(int n, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    Values out;
    for (int i = 0; i < n; ++i) out.push_back(uniform(engine));
    return out;
}

/// In the L2 norm.
inline double relative_error(const Values& got, const Values& expected) {
    double difference = 0.0, norm = 0.0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        difference += (got[i] - expected[i]) * (got[i] - expected[i]);
        norm += expected[i] * expected[i];
    }
    return std::sqrt(difference / norm);
}

inline SumResult computed(const Values& sources, const Values& targets, const Values& q,
                          const SumOptions& options) {
    return targets.empty() ? sum(rows(sources), list(q), options)
                           : sum(rows(sources), rows(targets), list(q), options);
}

inline double closest_distance(const Values& sources, const Values& targets, bool self) {
    double least = HUGE_VAL;
    for (std::size_t i = 0; i < targets.size(); i += 3)
        for (std::size_t j = 0; j < (self ? i : sources.size()); j += 3)
            least = std::min(least, std::hypot(targets[i] - sources[j], targets[i + 1] - sources[j + 1],
                                               targets[i + 2] - sources[j + 2]));
    return least;
}

inline double side_of(const Values& points) {
    std::array<Extent, 3> ranges;
    extend(ranges, points);
    double side = 0.0;
    for (const auto& range : ranges) side = std::max(side, range.high - range.low);
    return side;
}

/// What floats may add to the error of a sum: 4e-6, and as they hold a point to 6e-8 of its distance from the
/// centre of its leaf, at most an eighth of the side here, twice that over the distance of the closest pair.
inline double float_rounding(const Values& sources, const Values& targets, double softening) {
    const double closest = closest_distance(sources, targets.empty() ? sources : targets, targets.empty());
    return 4e-6 + 2.0 * 6e-8 * 0.125 * side_of(sources) / std::max(closest, softening);
}

} // namespace farfield::test
