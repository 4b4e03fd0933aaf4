#include "math/random_deviates.h"

#include "math/portable/functions.h"

#include <cmath>

namespace farfield {
namespace {

constexpr double two_pi = 6.283185307179586;

} // namespace

std::array<double, 2> normal_pair(RandomStream& random) {
    const double radius = std::sqrt(-2.0 * portable::log(random.next_open_uniform()));
    const double angle = two_pi * random.next_uniform();
    return {radius * portable::cos(angle), radius * portable::sin(angle)};
}

std::array<double, 3> normal_vector(RandomStream& random) {
    const auto first = normal_pair(random);
    const auto second = normal_pair(random);
    return {first[0], first[1], second[0]};
}

std::array<double, 3> unit_vector(RandomStream& random) {
    const double z = 2.0 * random.next_uniform() - 1.0;
    const double angle = two_pi * random.next_uniform();
    const double across = std::sqrt(1.0 - z * z);
    return {across * portable::cos(angle), across * portable::sin(angle), z};
}

} // namespace farfield
