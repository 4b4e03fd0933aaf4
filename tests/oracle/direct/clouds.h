// Points of many kinds, and the errors of sums over them, for tests of methods that take far points together.
#pragma once

#include "oracle/direct/oracle.h"

#include <farfield/sum.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace farfield::clouds {

using oracle::Points;

inline ConstArrayView points_of(const std::vector<double>& xyz) {
    return matrix_view(std::span<const double>(xyz), 3);
}
inline ConstArrayView strengths_of(const Points& points) { return {std::span<const double>(points.q)}; }

struct Errors {
    double potential = 0.0, field = 0.0;
};

inline Errors errors_of(const SumResult& result, const oracle::Result& exact) {
    return {oracle::relative_l2(result.potential, exact.potential),
            oracle::relative_l2(result.field, exact.field)};
}

class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(engine_);
    }
    double normal() { return std::normal_distribution<double>()(engine_); }

private:
    std::mt19937_64 engine_;
};

inline Points make(int n, std::uint64_t seed, const std::function<std::array<double, 3>(Random&, int)>& place,
                   const std::function<double(Random&, int)>& strength) {
    Random random(seed);
    Points out;
    for (int i = 0; i < n; ++i) {
        for (const double x : place(random, i)) out.xyz.push_back(x);
        out.q.push_back(strength(random, i));
    }
    return out;
}

inline std::array<double, 3> in_cube(Random& random, int /*i*/) {
    return {random.uniform(0, 1), random.uniform(0, 1), random.uniform(0, 1)};
}
inline std::array<double, 3> on_sphere(Random& random, int /*i*/) {
    std::array<double, 3> x{random.normal(), random.normal(), random.normal()};
    const double r = std::hypot(x[0], x[1], x[2]);
    for (auto& component : x) component /= r;
    return x;
}
inline std::array<double, 3> in_plummer(Random& random, int i) {
    auto x = on_sphere(random, i);
    const double r = 1.0 / std::sqrt(std::pow(random.uniform(1e-9, 0.999), -2.0 / 3.0) - 1.0);
    for (auto& component : x) component *= r;
    return x;
}
inline double both_signs(Random& random, int /*i*/) { return random.uniform(-1, 1); }
inline double mass(Random& random, int /*i*/) { return random.uniform(0.5, 1.5); }

struct Kind {
    std::string name;
    Points points;
};

inline std::vector<Kind> kinds(int n) {
    const auto moved = [n](double scale, double offset) {
        return make(
            n, 5,
            [=](Random& random, int i) {
                auto x = in_cube(random, i);
                for (auto& component : x) component = scale * component + offset;
                return x;
            },
            both_signs);
    };
    const auto clusters = [](Random& random, int i) {
        auto x = in_plummer(random, i);
        for (auto& component : x) component *= 1e-3;
        if (i % 2 == 1) x[0] += 1.0;
        return x;
    };
    const auto line = [](Random& random, int /*i*/) {
        return std::array<double, 3>{random.uniform(0, 1), 0.5, 0.25};
    };
    const auto pairs = [](Random& random, int i) { // two opposite charges close to each other
        static std::array<double, 3> last{};
        if (i % 2 == 0) return last = in_cube(random, i);
        return std::array<double, 3>{last[0] + 1e-4, last[1], last[2]};
    };
    return {{"cube", make(n, 1, in_cube, both_signs)},
            {"cube, masses", make(n, 2, in_cube, mass)},
            {"Plummer", make(n, 3, in_plummer, both_signs)},
            {"Plummer, masses", make(n, 4, in_plummer, mass)},
            {"sphere", make(n, 5, on_sphere, both_signs)},
            {"two clusters", make(n, 6, clusters, mass)},
            {"line", make(n, 7, line, both_signs)},
            {"near-neutral pairs", make(n, 8, pairs, [](Random&, int i) { return i % 2 == 0 ? 1.0 : -1.0; })},
            {"scale 1e-20", moved(1e-20, 0.0)},
            {"scale 1e20", moved(1e20, 0.0)},
            {"offset 1e6", moved(1.0, 1e6)}};
}

} // namespace farfield::clouds
